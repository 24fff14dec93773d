"""The data of the site's picker: cells, priorities and sentences, as small as they are readable.

The picker judges by the rules of attnmatrix.verdict, from what stands here and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from attnmatrix.capability import DEVICES
from attnmatrix.gpus import DEVICE_NAMES, NOISE, VENDOR
from attnmatrix.index import FIELDS
from attnmatrix.reasons import AXES, NAMES, VERSIONS
from attnmatrix.request import DTYPE_SPELLINGS, FEATURES, OF_A_MODEL, PHASES
from attnmatrix.sentences import KINDS, SENTENCES, WORDS

from .axes import DTYPES
from .page_gpus import DEVICE_TITLES

OF_A_BACKEND = ("summary", "mla", "sparse", "supported_kv_cache_dtypes", "cells", "refusals")
"""The attributes of a backend class that the picker reads."""

_TEXTS = ("sources", "notes")


def data(
    *,
    backends: dict[str, dict[str, Any]],
    priorities: list[dict[str, Any]],
    libraries: dict[str, dict[str, Any]],
    released: Iterable[str],
    **tables: Any,
) -> dict[str, Any]:
    """The picker's data.

    libraries: with their providers; released: engines of whose releases it is known what they have.
    Other tables are passed on as they are.
    """
    providers = [name for library in libraries.values() for name in library["providers"]]
    return {
        **tables,
        "priorities": [_priority(entry) for entry in priorities],
        "distributions": sorted({*providers, *released}),
        "backends": {name: _backend(entry) for name, entry in backends.items()},
        "devices": {
            name: {"capability": capability, "title": DEVICE_TITLES[name]}
            for name, capability in DEVICES.items()
        },
        "device_names": DEVICE_NAMES,
        "gpu_noise": NOISE,
        "gpu_vendor": VENDOR,
        "of_a_model": OF_A_MODEL,
        "fields": FIELDS,
        "axes": AXES,
        "versions": VERSIONS,
        "names": sorted(NAMES),
        "dtype_spellings": DTYPE_SPELLINGS,
        "dtypes": DTYPES,
        "phases": PHASES,
        "features": FEATURES,
        "kinds": KINDS,
        "words": WORDS,
        "sentences": SENTENCES,
    }


def lines(data: dict[str, Any]) -> str:
    """Data as JSON, an object a line, to be put together table by table. No line depends on another
    one, so that two people's additions merge."""
    return "".join(
        json.dumps(part, ensure_ascii=False, separators=(",", ":")) + "\n" for part in _parts(data)
    )


def _parts(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for table, value in data.items():
        if isinstance(value, dict):
            yield from ({table: {key: entry}} for key, entry in value.items())
        elif isinstance(value, list):
            yield from ({table: [entry]} for entry in value)
        else:
            yield {table: value}


def _backend(entry: dict[str, Any]) -> dict[str, Any]:
    """A backend's entry; texts stand once, and a cell says how it differs from the one before."""
    texts: dict[str, int] = {}
    cells = [_cell(cell, texts) for cell in entry["cells"]]
    refusals = [_cell(cell, texts) for cell in entry["refusals"]]
    return {
        **entry,
        "texts": list(texts),
        "cells": _differences(cells),
        "refusals": _differences(refusals),
    }


def _differences(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    before: dict[str, Any] = {}
    found = []
    for cell in cells:
        found.append({k: v for k, v in cell.items() if k not in before or before[k] != v})
        before = cell
    return found


def _cell(cell: dict[str, Any], texts: dict[str, int]) -> dict[str, Any]:
    """A cell with its texts numbered, and runs of integers as [multiple of, from, up to]."""
    found = {}
    for key, value in cell.items():
        if key in _TEXTS:
            value = [texts.setdefault(text, len(texts)) for text in value]
        else:
            value = _runs(value)
        found[key] = value
    return found


def _priority(entry: dict[str, Any]) -> dict[str, Any]:
    return {**entry, "when": {field: _runs(value) for field, value in entry["when"].items()}}


def _runs(value: Any) -> Any:
    """A list with its runs of integers as [multiple of, from, up to]; all else as it is."""
    if not isinstance(value, list):
        return value
    return [
        [v["multiple_of"], v["min"], v["max"]] if isinstance(v, dict) and "multiple_of" in v else v
        for v in value
    ]
