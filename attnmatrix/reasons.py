"""Reasons in words. Built only when somebody reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .capability import Capability, CapabilityPattern, format_capability
from .cell import Cell
from .index import describe_ints, version_answer
from .libraries import Absent
from .request import DTYPE_SPELLINGS
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

_VERSIONS = {"engine": "engines", "libraries": "versions"}
NAMES = {*DTYPE_SPELLINGS.values(), "fp8_e5m2", "nvfp4", "nvfp4_ds_mla", "fp8_ds_mla", "fp8_inc"}
"""Dtypes and KV-cache dtypes that are no misspelling of another."""

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
        return _union(map(_capability_texts, near))
    if field in _VERSIONS:
        return _union(_version_texts(getattr(cell, _VERSIONS[field])) for cell in near)
    if field == "dtype":
        return _union(cell.dtypes for cell in near)
    return describe_ints(getattr(cell, _AXES[field]) for cell in near)


def _capability_texts(cell: Cell) -> Iterable[str]:
    less = ", ".join(cell.except_capability)
    for text in cell.compute_capability:
        yield f"{text} less {less}" if less else text


def _union(groups: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(value for group in groups for value in group))


def _version_texts(versions: Mapping[str, str] | None) -> Iterable[str]:
    for name, accepted in (versions or {}).items():
        if accepted not in ("none", "unknown"):
            yield name if accepted == "any" else f"{name}{accepted}"


def shown_value(field: str, value: Any) -> Any:
    """A reason's value as plain JSON data."""
    if field == "compute_capability":
        return format_capability(value)
    if field in _VERSIONS:
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
    if field == "engine":
        return _library_message(value, [cell.engines for cell in near], name)
    if field == "libraries":
        return _library_message(value, [cell.versions for cell in near], "this kernel")
    known = ", ".join(map(str, accepted)) or "none"
    if field == "features":
        return f"feature {value} is not supported; supported: {known}"
    _, unit, advice = _WORDS[field]
    if field == "topk" and not accepted:
        return f"top-k {value} is not supported: the kernel is dense and takes no indices"
    where = ""
    gpu = request.compute_capability
    if field not in ("compute_capability", "phase") and gpu is not None and _run_on(near, gpu):
        where = f" on compute capability {format_capability(gpu)}"
    hint = _hint(value, accepted) if field in ("kv_cache_dtype", "dtype") else ""
    return (
        f"{_subject(field, value, request)} is not supported{where}{hint}; "
        f"accepted: {known}{unit if accepted and isinstance(accepted[-1], int) else ''}; {advice}"
    )


def _run_on(near: list[Cell], gpu: Capability) -> bool:
    """Whether some of the cells are for this GPU; else what they accept says nothing of it."""
    return any(CapabilityPattern(t).matches(gpu) for cell in near for t in cell.compute_capability)


def _hint(value: str, accepted: tuple[Any, ...]) -> str:
    """The nearest accepted spelling, unless the value is a name of its own."""
    spelled = DTYPE_SPELLINGS.get(value.lower())
    if spelled in accepted:
        return f" (did you mean {spelled!r}?)"
    return "" if value in NAMES else did_you_mean(value, accepted)


def _subject(field: str, value: Any, request: Request) -> str:
    if field in _VERSIONS:
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


def _library_message(
    libraries: tuple[tuple[str, Version | Absent], ...],
    near: list[Mapping[str, str] | None],
    what: str,
) -> str:
    parts = []
    for name, version in libraries:
        accepted = list(dict.fromkeys(each[name] for each in near if each and name in each))
        if accepted and not any(_takes(text, version) for text in accepted):
            parts.append(_version_message(name, version, accepted, what))
    named = {name for name, _ in libraries}
    others = {
        name: list(dict.fromkeys(each[name] for each in near if each and name in each))
        for each in near
        for name in each or ()
        if name not in named
    }
    also = [
        f"{name} ({' or '.join(_simplified(texts))})"
        for name, texts in others.items()
        if not set(texts) <= {"none", "unknown"}
    ]
    return "; ".join(parts) + (f"; also in {', '.join(also)}" if also else "")


def _takes(text: str, version: Version | Absent) -> bool:
    known = text if text in ("any", "none", "unknown") else Specifier(text)
    return version_answer(known, version) is True


def _version_message(name: str, version: Version | Absent, accepted: list[str], what: str) -> str:
    if set(accepted) == {"none"}:
        return f"{name} does not ship {what}"
    needs = " or ".join(_simplified(accepted))
    if isinstance(version, Absent):
        cure = f"install {name}" if version.reason == "not installed" else f"repair {name}"
        return f"{name} {version}: {cure} ({needs})"
    word = "too old" if _too_old(version, accepted) else "not supported"
    return f"{name} is {word} (has {version.text}, needs {needs}) for {what}"


def _simplified(accepted: list[str]) -> list[str]:
    """Specifiers in words; adjoining ranges such as >=1,<2 and >=2 as one."""
    words = {"any": "any version", "unknown": "which version is not established"}
    ranges: list[tuple[Version, Version | None]] = []
    kept = [words.get(text, text) for text in accepted if text in words]
    for text in accepted:
        if text in ("any", "none", "unknown"):
            continue
        clauses = {op: bound for op, bound, wildcard in Specifier(text).clauses if not wildcard}
        if set(clauses) <= {">=", "<"} and ">=" in clauses:
            ranges.append((clauses[">="], clauses.get("<")))
        else:
            kept.append(text)
    ranges.sort(key=lambda pair: pair[0].key)
    joined: list[tuple[Version, Version | None]] = []
    for low, high in ranges:
        if joined and (end := joined[-1][1]) is not None and low.key <= end.key:
            joined[-1] = (joined[-1][0], high)
        elif not joined or joined[-1][1] is not None:
            joined.append((low, high))
    texts = [f">={low.text}" + (f",<{high.text}" if high else "") for low, high in joined]
    return [*texts, *kept]


def _too_old(version: Version, accepted: list[str]) -> bool:
    """Whether the version lies below a lower bound of every specifier."""
    specifiers = [Specifier(text) for text in accepted if text not in ("any", "none", "unknown")]
    return bool(specifiers) and all(
        any(op in (">=", ">", "~=", "==") and version.key < bound.key for op, bound, _ in s.clauses)
        for s in specifiers
    )
