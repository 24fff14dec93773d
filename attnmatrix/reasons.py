"""Reasons in words. Built only when somebody reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .capability import DEVICES, Capability, CapabilityPattern, format_capability
from .cell import Cell
from .index import describe_ints, version_answer
from .libraries import Absent
from .request import DTYPE_SPELLINGS
from .sentences import KINDS, WORDS, sentence
from .spelling import did_you_mean
from .versions import Specifier, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .request import Request

AXES = {
    "dtype": "dtypes",
    "head_size": "head_sizes",
    "block_size": "block_sizes",
    "query_heads": "query_heads",
    "topk": "topk",
}
"""The attribute of a cell that holds a field's accepted values."""

VERSIONS = {"engine": "engines", "libraries": "versions"}
"""The attribute of a cell that holds accepted versions, for each field that compares some."""

NAMES = {*DTYPE_SPELLINGS.values(), "fp8_e5m2", "nvfp4", "nvfp4_ds_mla", "fp8_ds_mla", "fp8_inc"}
"""Dtypes and KV-cache dtypes that are no misspelling of another."""


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
    if field in VERSIONS:
        return _union(_version_texts(getattr(cell, VERSIONS[field])) for cell in near)
    if field == "dtype":
        return _union(cell.dtypes for cell in near)
    return describe_ints(getattr(cell, AXES[field]) for cell in near)


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
    if field in VERSIONS:
        return [_library_text(name, version) for name, version in value]
    return value


def _library_text(name: str, version: Version | Absent) -> str:
    if isinstance(version, Version):
        return sentence("library", name=name, version=version.text)
    return f"{name} ({version})"


def unknown_message(field: str, value: Any, request: Request) -> str:
    """One line on a field that nobody has established."""
    return sentence("unknown", subject=_subject(field, value, request))


def reason_message(field: str, value: Any, near: list[Cell], name: str, request: Request) -> str:
    """One line on backend `name`: what was wrong, what is accepted, what to do."""
    accepted = accepted_values(field, value, near)
    if field in ("mla", "sparse"):
        kind = KINDS[field] if accepted[0] else sentence("not", kind=KINDS[field])
        return sentence("kind", name=name, kind=kind, field=field, value=value)
    if field == "sink":
        return sentence("sink")
    if field == "engine":
        return _library_message(value, [cell.engines for cell in near], name)
    if field == "libraries":
        return _library_message(value, [cell.versions for cell in near], sentence("kernel"))
    known = ", ".join(_shown(field, item) for item in accepted) or sentence("none")
    if field == "features":
        return sentence("feature", value=value, known=known)
    _, unit, advice = WORDS[field]
    if field == "topk" and not accepted:
        return sentence("dense", value=value)
    where = ""
    gpu = request.compute_capability
    if field not in ("compute_capability", "phase") and gpu is not None and _run_on(near, gpu):
        where = sentence("where", capability=format_capability(gpu))
    hint = _hint(value, accepted) if field in ("kv_cache_dtype", "dtype") else ""
    return sentence(
        "refused",
        subject=_subject(field, value, request),
        where=where,
        hint=hint,
        known=known,
        unit=unit if accepted and isinstance(accepted[-1], int) else "",
        advice=advice,
    )


def _shown(field: str, accepted: Any) -> str:
    """An accepted value in words; `none` is a device here, not the lack of one that is accepted."""
    gpuless = field == "compute_capability" and accepted == "none"
    return sentence("no_gpu") if gpuless else str(accepted)


def _run_on(near: list[Cell], gpu: Capability) -> bool:
    """Whether some of the cells are for this GPU; else what they accept says nothing of it."""
    return any(CapabilityPattern(t).matches(gpu) for cell in near for t in cell.compute_capability)


def _hint(value: str, accepted: tuple[Any, ...]) -> str:
    """The nearest accepted spelling, unless the value is a name of its own."""
    spelled = DTYPE_SPELLINGS.get(value.lower())
    if spelled in accepted:
        return sentence("hint", word=spelled)
    return "" if value in NAMES else did_you_mean(value, accepted)


def _subject(field: str, value: Any, request: Request) -> str:
    if field in VERSIONS:
        return ", ".join(_library_text(name, version) for name, version in value)
    if field == "features":
        return sentence("feature_subject", value=value)
    if field == "sink":
        return sentence("sink_subject")
    what = WORDS[field][0]
    if field != "compute_capability":
        return sentence("subject", what=what, value=value)
    if request.gpu is None or request.gpu in DEVICES:
        return sentence("subject", what=what, value=format_capability(value))
    return sentence("gpu", what=what, capability=format_capability(value), gpu=request.gpu)


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
        sentence("other", name=name, versions=" or ".join(_simplified(texts)))
        for name, texts in others.items()
        if not set(texts) <= {"none", "unknown"}
    ]
    return "; ".join(parts) + (sentence("also", others=", ".join(also)) if also else "")


def _takes(text: str, version: Version | Absent) -> bool:
    known = text if text in ("any", "none", "unknown") else Specifier(text)
    return version_answer(known, version) is True


def _version_message(name: str, version: Version | Absent, accepted: list[str], what: str) -> str:
    if set(accepted) == {"none"}:
        return sentence("not_shipped", name=name, what=what)
    needs = " or ".join(_simplified(accepted))
    if isinstance(version, Absent):
        cure = f"install {name}" if version.reason == "not installed" else f"repair {name}"
        return f"{name} {version}: {cure} ({needs})"
    word = "too_old" if _too_old(version, accepted) else "other_version"
    return sentence(word, name=name, version=version.text, needs=needs, what=what)


def _simplified(accepted: list[str]) -> list[str]:
    """Specifiers in words; adjoining ranges such as >=1,<2 and >=2 as one."""
    words = {"any": sentence("any_version"), "unknown": sentence("unknown_version")}
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
