"""Drafts of YAML entries for backends that the matrix lacks, from what a release declares.

A draft says what the engine says and cites it. It names no kernel and no KV format: those are
read from a kernel library, by a person.
"""

from __future__ import annotations

import json

from ..gpus import DEVICE_NAMES
from .capabilities import CAPABILITIES, FURTHER_CAPABILITIES, capability_text
from .head_sizes import bounds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from typing import Any

    from .reading import Reading

_GPUS = [capability_text(pair) for pair in sorted((*CAPABILITIES, *FURTHER_CAPABILITIES))]
_CUT = ("kv_cache_dtypes", "block_sizes", "head_sizes", "sink")  # may depend on the GPU


def draft(reading: Reading, known: Container[str] = ()) -> Iterator[str]:
    """Lines of YAML, to be put under `backends:` after a review."""
    source = f"{reading.engine}=={reading.version}"
    yield f"  # Drafted from {source} by attnmatrix import: what it declares, not what kernels do"
    for name in reading.declared:
        if name not in known:
            yield ""
            yield from _entry(reading, name, source)


def _entry(reading: Reading, name: str, source: str) -> Iterator[str]:
    row = reading.declared[name]
    missing = [field for field in ("dtypes", "sparse", "mla") if row[field] is None]
    cuda = reading.platforms[name] == "cuda"
    if cuda and row["compute_capabilities"] is None:
        missing.append("compute_capabilities")
    variants = [] if missing else list(_variants(reading, name, cuda))
    found: dict[str, list[str]] = {}
    for (backend, field), why in reading.unknown.items():
        if backend == name:
            found.setdefault(why, []).append(field)
    doubts = [f"{', '.join(fields)}: {why}" for why, fields in found.items()]
    if not variants:
        why = "; ".join(doubts) or "it takes none of the GPUs asked about"
        yield f"  # {name}: not drafted: {why}"
        return
    yield from (f"  # {name}, unknown in part: {doubt}" for doubt in doubts)
    yield from (f"  # {name} refuses {text}" for text in _refusals(reading, name))
    sizes = _head_sizes([variant["head_sizes"] for _, variant in variants])
    file, line = reading.places[name]
    yield f"  {name}:"
    yield f"    summary: {_title(name)}"
    yield f"    mla: {_yaml(row['mla'])}"
    yield f"    sparse: {_yaml(row['sparse'])}"
    yield f"    dtypes: {_yaml(row['dtypes'])}"
    yield f"    head_sizes: {sizes}"
    sinks = {variant["sink"] for _, variant in variants}
    yield f"    features: {'[attention_sink]' if True in sinks else '[]'}"
    yield "    variants:"
    for gpus, variant in variants:
        yield f"      - compute_capability: {gpus}"
        yield "        kernels: {decode: none}"
        yield f"        block_sizes: {_block_sizes(variant['block_sizes'])}"
        yield "        query_heads: any"
        own = _head_sizes([variant["head_sizes"]])
        if own != sizes:
            yield f"        head_sizes: {own}"
        if True in sinks and variant["sink"] is not True:
            yield "        features: []"
        yield "        kv_cache_dtypes:"
        for key, value in _kv_cache_dtypes(variant["kv_cache_dtypes"], row["dtypes"]).items():
            yield f"          {key}: {value}"
    notes = list(_notes(reading, name))
    if notes:
        yield "    notes:"
        yield from (f"      - {_yaml(note)}" for note in notes)
    yield "    sources:"
    yield f"      - {source} {file}:{line}"


def _refusals(reading: Reading, name: str) -> list[str]:
    """Combinations inside what it declares that the engine's own check refuses, by reason."""
    groups: dict[str, list[str]] = {}
    for row in reading.combinations.get(name, ()):
        if row["reasons"]:
            text = f"{row['compute_capability']} × {row['kv_cache_dtype']} × {row['head_size']}"
            groups.setdefault("; ".join(row["reasons"]), []).append(text)
    return [f"{', '.join(dict.fromkeys(texts))}: {reason}" for reason, texts in groups.items()]


def _title(name: str) -> str:
    return f"{name.replace('_', ' ').title()}, as the engine declares it"


def _variants(reading: Reading, name: str, cuda: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """The GPUs of one answer and that answer, for each answer that is known."""
    row = reading.declared[name]
    if not cuda:
        cells = {field: row[field] for field in _CUT}
        if None not in (cells["kv_cache_dtypes"], cells["block_sizes"], cells["head_sizes"]):
            yield DEVICE_NAMES[reading.platforms[name]], cells
        return
    groups: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for gpu in row["compute_capabilities"]:
        cells = {field: reading.at(name, field, gpu) for field in _CUT}
        if None in (cells["kv_cache_dtypes"], cells["block_sizes"], cells["head_sizes"]):
            continue
        groups.setdefault(json.dumps(cells), (cells, []))[1].append(gpu)
    for cells, gpus in groups.values():
        yield _capabilities(sorted(gpus, key=_GPUS.index)), cells


def _capabilities(gpus: list[str]) -> str:
    if gpus == _GPUS:
        return "any"
    if len(gpus) > 3 and gpus == _GPUS[_GPUS.index(gpus[0]) :]:
        return json.dumps([f">={gpus[0]}"])
    found: list[str] = []
    for gpu in gpus:
        major = gpu.split(".")[0]
        family = [text for text in _GPUS if text.split(".")[0] == major]
        text = f"{major}.x" if len(family) > 1 and set(family) <= set(gpus) else gpu
        if text not in found:
            found.append(text)
    return json.dumps(found)


def _head_sizes(cells: list[list[int | str]]) -> str:
    """The sizes of several answers together, as the grammar writes them."""
    if [] in cells:
        return "any"
    forms = [*dict.fromkeys(_head_size(size) for cell in cells for size in cell)]
    return forms[0] if len(forms) == 1 and forms[0][0] == "{" else f"[{', '.join(forms)}]"


def _head_size(size: int | str) -> str:
    """64, or the rule `%8,>=16,<=256` as {multiple_of: 8, min: 16, max: 256}."""
    if isinstance(size, int):
        return str(size)
    words = {"%": "multiple_of", ">=": "min", "<=": "max"}
    parts = bounds(size) if size != "none" else []
    return f"{{{', '.join(f'{words[sign]}: {number}' for sign, number in parts)}}}"


def _notes(reading: Reading, name: str) -> Iterator[str]:
    if any(row["model"] for row in reading.combinations.get(name, ())):
        yield "The engine further looks at the model before it accepts."


def _block_sizes(sizes: list[int | str]) -> str:
    forms = [
        f"{{multiple_of: {size.lstrip('%')}}}" if isinstance(size, str) else str(size)
        for size in sizes
    ]
    if forms == ["{multiple_of: 1}"]:
        return "any"
    return forms[0] if len(forms) == 1 and forms[0][0] == "{" else f"[{', '.join(forms)}]"


def _kv_cache_dtypes(names: list[str], dtypes: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        if name == "auto" and set(dtypes) <= set(names):
            found[name] = "model_dtype"
        elif name == "fp8" and "fp8_e4m3" in names:
            found[name] = "fp8_e4m3"
        else:
            found[name] = "{format: none}"
    return found


def _yaml(value: Any) -> str:
    """A scalar or a list of plain scalars as YAML; JSON's quoting is YAML's, too."""
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return json.dumps(value) if isinstance(value, bool) or " " in str(value) else str(value)
