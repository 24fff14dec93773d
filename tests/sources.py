"""Where the tests' YAML comes from: the small base, and the examples that build on it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from attnmatrix.codegen.evidence import File, read_evidence
from attnmatrix.codegen.problems import Problem

EXAMPLES = Path(__file__).parent / "examples"
GOOD = sorted((EXAMPLES / "good").glob("*.yaml"))
BAD = sorted((EXAMPLES / "bad").glob("*.yaml"))
REAL = Path(__file__).parents[1] / "capabilities.yaml"
BASE = (EXAMPLES / "base.yaml").read_text(encoding="utf-8")


def sections(text: str) -> dict[str, str]:
    """The top-level sections of a YAML text, by key."""
    parts = re.split(r"^(?=[a-z_]+:)", text, flags=re.MULTILINE)
    return {part.partition(":")[0]: part for part in parts[1:]}


def completed(text: str) -> str:
    """A text, followed by the sections of the base that it does not have."""
    own = sections(text)
    return text + "".join(part for key, part in sections(BASE).items() if key not in own)


def bad_text(path: Path) -> str:
    """A bad example as the generator gets it. A file that says `# alone` is not completed."""
    text = path.read_text(encoding="utf-8")
    return text if text.startswith("# alone") else completed(text)


def bad_evidence(path: Path) -> tuple[tuple[File, ...], list[Problem]]:
    """The evidence files that belong to a bad example, in the folder of its name."""
    return read_evidence(path.with_suffix("") / path.name)


def expected(text: str) -> list[tuple[int, int, str, str]]:
    """Line, column, code and words of each finding that a bad example announces.

    A comment `#   ^ code words` speaks of what stands above its caret; `# expect: 3:1 code words`
    of that line and column. The words, if any, are part of what is reported.
    """
    found = []
    line = 0
    for number, content in enumerate(text.splitlines(), 1):
        if match := re.fullmatch(r"# expect: (\d+):(\d+) ([a-z-]+) ?(.*)", content):
            found.append((int(match[1]), int(match[2]), match[3], match[4]))
        elif re.match(r"# *\^ [a-z-]+", content):
            for match in re.finditer(r"\^ ([a-z-]+) ?([^^]*)", content):
                found.append((line, match.start() + 1, match[1], match[2].strip()))
        else:
            line = number
    return sorted(found)


class _Dumper(yaml.SafeDumper):
    """Quotes every text, and leaves out anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


def dump(data: Any, **options: Any) -> str:
    """Data as YAML of the strict subset; options are those of yaml.dump."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, **options)
