"""Library versions: PEP 440 order and specifiers, with the standard library alone.

The `packaging` distribution does this too, but selection must run where nothing is installed.
The tests hold the two equal.
"""

from __future__ import annotations

import functools
import re

_VERSION = re.compile(
    r"""v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)
    (?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_n>\d+)?)?
    (?:-(?P<post_n1>\d+)|[-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_n2>\d+)?)?
    (?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_n>\d+)?)?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_CLAUSE = re.compile(r"(~=|==|!=|<=|>=|<|>)\s*([^\s,]+?)(\.\*)?")
_PRE = {"alpha": "a", "a": "a", "beta": "b", "b": "b"}
_LAST = (1,)  # sorts after every numbered pre-release or dev release
_FIRST = (-1,)


class Version:
    """One PEP 440 version. `key` orders versions; local labels count last."""

    __slots__ = ("text", "epoch", "release", "pre", "post", "dev", "local", "key", "public")

    def __init__(self, text: str) -> None:
        match = _VERSION.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is not a version (PEP 440), such as 0.33.0 or 0.7.0rc1")
        self.text = text
        self.epoch = int(match["epoch"] or 0)
        self.release = tuple(int(number) for number in match["release"].split("."))
        self.pre = self.post = self.dev = None
        if match["pre"]:
            self.pre = (_PRE.get(match["pre"].lower(), "rc"), int(match["pre_n"] or 0))
        if match["post"] or match["post_n1"]:
            self.post = int(match["post_n1"] or match["post_n2"] or 0)
        if match["dev"]:
            self.dev = int(match["dev_n"] or 0)
        self.local = (
            tuple(
                (1, int(label), "") if label.isdigit() else (0, 0, label)
                for label in re.split(r"[-_.]", match["local"].lower())
            )
            if match["local"]
            else ()
        )
        self.public = (self.epoch, _trim(self.release), *self._suffix())
        self.key = (*self.public, self.local)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Version({self.text!r})"

    def _suffix(self) -> tuple[object, ...]:
        if self.pre is None and self.post is None and self.dev is not None:
            pre: tuple[object, ...] = _FIRST
        else:
            pre = _LAST if self.pre is None else (0, *self.pre)
        post = -1 if self.post is None else self.post
        dev = _LAST if self.dev is None else (0, self.dev)
        return pre, post, dev

    @property
    def is_prerelease(self) -> bool:
        """Whether it is an alpha, beta, candidate or development release."""
        return self.pre is not None or self.dev is not None


def _trim(release: tuple[int, ...]) -> tuple[int, ...]:
    while len(release) > 1 and release[-1] == 0:
        release = release[:-1]
    return release


class Specifier:
    """A comma-joined PEP 440 specifier, such as `>=0.24,<0.33`; every clause must hold.

    An installed pre-release is judged by its place in the order: it is what the machine has.
    Raises ValueError if the text is not a specifier.
    """

    __slots__ = ("text", "clauses")

    def __init__(self, text: str) -> None:
        self.text = text
        matches = [_CLAUSE.fullmatch(clause.strip()) for clause in text.split(",")]
        if not all(matches):
            raise ValueError(f"{text!r} is not a version specifier, such as >=0.24 or >=0.24,<0.33")
        self.clauses = tuple(
            (match[1], Version(match[2]), bool(match[3])) for match in matches if match
        )
        for operator, version, wildcard in self.clauses:
            if wildcard and operator not in ("==", "!="):
                raise ValueError(f"{text!r}: only == and != take a version that ends in .*")
            if operator == "~=" and len(version.release) < 2:
                raise ValueError(f"{text!r}: ~= takes a version of two numbers or more")

    def contains(self, version: Version) -> bool:
        """Whether every clause holds for this version."""
        return all(_clause_holds(version, *clause) for clause in self.clauses)


def _clause_holds(version: Version, operator: str, bound: Version, wildcard: bool) -> bool:
    if operator == "~=":
        return version.public >= bound.public and _has_prefix(version, bound, -1)
    if operator in ("==", "!="):
        if wildcard:
            equal = _has_prefix(version, bound)
        else:
            equal = version.key == bound.key if bound.local else version.public == bound.public
        return equal == (operator == "==")
    if operator == ">=":
        return version.public >= bound.public
    if operator == "<=":
        return version.public <= bound.public
    if operator == "<":  # 0.33.0rc1 is not < 0.33: it has what 0.33 has
        first = bound if bound.is_prerelease else Version(bound.text.partition("+")[0] + ".dev0")
        return version.key < first.key
    if version.public <= bound.public:
        return False
    if bound.post is not None or bound.dev is not None or version.post is None:
        return True
    return version.public[:3] != bound.public[:3]  # 0.33.post1 is not > 0.33


def _has_prefix(version: Version, bound: Version, drop: int | None = None) -> bool:
    """Whether the version begins as the bound does, its last `drop` release numbers left out."""
    wanted = bound.release[:drop]
    padded = version.release + (0,) * (len(wanted) - len(version.release))
    if version.epoch != bound.epoch or padded[: len(wanted)] != wanted:
        return False
    return drop is not None or bound.pre is None or version.pre == bound.pre


@functools.lru_cache(maxsize=1024)
def parse_version(text: str) -> Version:
    """The Version of a text; ValueError if it is none. Pure, so the cache cannot go stale."""
    return Version(text)


def parse_release(text: str) -> tuple[str, Specifier | None]:
    """A distribution and its versions from `vllm==0.33.0`, `vllm>=0.23,<0.33` or `vllm` for all.

    Raises ValueError if the text is none of these.
    """
    match = re.fullmatch(r"([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(.*)", text.strip(), re.ASCII)
    if match is None:
        raise ValueError(f"{text!r} is not a distribution and its versions, such as vllm==0.33.0")
    return match[1], Specifier(match[2]) if match[2] else None


def names_release(text: str, distribution: str, version: str | None) -> bool:
    """Whether a text that `parse_release` takes is about this version of this distribution.

    version: None where it is not known; then a text that names one is not.
    """
    name, specifier = parse_release(text)
    if name != distribution or specifier is None:
        return name == distribution
    return version is not None and specifier.contains(parse_version(version))
