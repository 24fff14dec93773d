"""Reasons in words. Built only when somebody reads them."""

from __future__ import annotations

from collections.abc import Iterable

from .capability import format_capability
from .cell import Cell
from .index import describe_ints
from .libraries import Absent
from .spelling import did_you_mean
from .versions import Specifier, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .request import Request

_AXES = {
    "dtype": "dtypes",
    "head_size": "head_sizes",
    "block_size": "block_sizes",
    "query_heads": "query_heads",
    "topk": "topk",
}

_WORDS = {
    "compute_capability": ("compute capability", "", "use such a GPU, or another backend"),
    "kv_cache_dtype": ("KV-cache dtype", "", "pass one of these"),
    "dtype": ("dtype", "", "run the model in one of these"),
    "head_size": ("head size", " elements", "use a backend that takes this head size"),
    "block_size": ("block size", " tokens", "pass one of these"),
    "query_heads": ("query heads", " heads", "change the tensor-parallel size"),
    "topk": ("top-k", " indices", "pad the indices up with -1"),
    "phase": ("phase", "", "pair it with a backend that has this phase"),
}


def accepted_values(field: str, value: Any, near: list[Cell]) -> tuple[Any, ...]:
    """What the nearest cells accept for a field in place of a value, each once."""
    if field in ("mla", "sparse"):
        return (not value,)
    if field == "sink":
        return (False,)
    if field == "features":
        return _union(cell.features for cell in near)
    if field == "phase":
        return _union((cell.phase,) for cell in near)
    if field == "kv_cache_dtype":
        return _union(cell.spellings for cell in near)
    if field == "compute_capability":
        return _union(cell.compute_capability for cell in near)
    if field == "libraries":
        return _union(_version_texts(cell) for cell in near)
    known = [cell for cell in near if _AXES[field] not in cell.unknown]
    if field == "dtype":
        return _union(cell.dtypes for cell in known)
    return describe_ints(getattr(cell, _AXES[field]) for cell in known)


def _union(groups: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(value for group in groups for value in group))


def _version_texts(cell: Cell) -> Iterable[str]:
    for name, accepted in (cell.versions or {}).items():
        if accepted not in ("none", "unknown"):
            yield name if accepted == "any" else f"{name}{accepted}"


def shown_value(field: str, value: Any) -> Any:
    """A reason's value as plain JSON data."""
    if field == "compute_capability":
        return format_capability(value)
    if field == "libraries":
        return [_library_text(name, version) for name, version in value]
    return value


def _library_text(name: str, version: Version | Absent) -> str:
    return f"{name}=={version.text}" if isinstance(version, Version) else f"{name} ({version})"


def unknown_message(field: str, value: Any, request: Request) -> str:
    """One line on a field that nobody has established."""
    return f"{_subject(field, value, request)}: nobody has established whether it works"


def reason_message(field: str, value: Any, near: list[Cell], name: str, request: Request) -> str:
    """One line on backend `name`: what was wrong, what is accepted, what to do."""
    accepted = accepted_values(field, value, near)
    if field in ("mla", "sparse"):
        word = "MLA" if field == "mla" else "sparse"
        kind = word if accepted[0] else f"not {word}"
        return f"{name} is {kind}: ask for another backend, or drop {field}={value}"
    if field == "sink":
        return "attention sinks are not supported: use a backend that takes one"
    if field == "libraries":
        return _library_message(value, near)
    known = ", ".join(map(str, accepted)) or "none"
    if field == "features":
        return f"feature {value} is not supported; supported: {known}"
    _, unit, advice = _WORDS[field]
    if field == "topk" and not accepted:
        return f"top-k {value} is not supported: the kernel is dense and takes no indices"
    where = ""
    if field not in ("compute_capability", "phase") and request.compute_capability is not None:
        where = f" on compute capability {format_capability(request.compute_capability)}"
    hint = did_you_mean(value, accepted) if field in ("kv_cache_dtype", "dtype") else ""
    return (
        f"{_subject(field, value, request)} is not supported{where}{hint}; "
        f"accepted: {known}{unit if accepted and isinstance(accepted[-1], int) else ''}; {advice}"
    )


def _subject(field: str, value: Any, request: Request) -> str:
    if field == "libraries":
        return ", ".join(_library_text(name, version) for name, version in value)
    if field == "features":
        return f"feature {value}"
    if field == "sink":
        return "an attention sink"
    what = _WORDS[field][0]
    if field == "compute_capability":
        gpu = f" ({request.gpu})" if request.gpu not in (None, "none") else ""
        return f"{what} {format_capability(value)}{gpu}"
    return f"{what} {value}"


def _library_message(libraries: tuple[tuple[str, Version | Absent], ...], near: list[Cell]) -> str:
    parts = []
    for name, version in libraries:
        accepted = list(
            dict.fromkeys(c.versions[name] for c in near if c.versions and name in c.versions)
        )
        if not accepted:
            continue
        needs = " or ".join("any version" if text == "any" else text for text in accepted)
        if isinstance(version, Absent):
            parts.append(f"{name} {version}: install {name} ({needs})")
        elif set(accepted) == {"none"}:
            parts.append(f"{name} does not ship this kernel")
        else:
            word = "too old" if _too_old(version, accepted) else "not supported"
            parts.append(f"{name} is {word} (has {version.text}, needs {needs})")
    others = [text for cell in near for text in _version_texts(cell)]
    named = {name for name, _ in libraries}
    rest = [t for t in dict.fromkeys(others) if not any(t.startswith(name) for name in named)]
    also = f"; also in {', '.join(rest)}" if rest else ""
    return "; ".join(parts) + also


def _too_old(version: Version, accepted: list[str]) -> bool:
    """Whether the version lies below a lower bound of every specifier."""
    specifiers = [Specifier(text) for text in accepted if text not in ("any", "none", "unknown")]
    return bool(specifiers) and all(
        any(op in (">=", ">", "~=", "==") and version.key < bound.key for op, bound, _ in s.clauses)
        for s in specifiers
    )
