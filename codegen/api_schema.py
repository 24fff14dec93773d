"""The JSON Schema of the data that the site serves under `/api/v1/`.

Within v1 keys are added and never taken away; what they hold keeps its form.
"""

from __future__ import annotations

from typing import Any

from attnmatrix.capability import DEVICES
from attnmatrix.kv_format import BITS
from attnmatrix.request import FEATURES, PHASES

from .answers import STATES
from .reason_texts import ABOUT

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 1}
_GPU: Schema = {
    "type": "string",
    "pattern": rf"^(\d+\.\d|{'|'.join(DEVICES)})$",
    "description": "Compute capability, or rocm, xpu, none for AMD's GPUs, Intel's, no GPU.",
}
_FIELD: Schema = {"enum": list(ABOUT), "description": "A page under reference/reasons/."}


def _list(items: Schema, description: str = "") -> Schema:
    return {"type": "array", "items": items, **_described(description)}


def _map(values: Schema, description: str = "") -> Schema:
    return {"type": "object", "additionalProperties": values, **_described(description)}


def _file(path: str, schema: Schema) -> Schema:
    """The schema of a file, the comment at its head left out."""
    properties = {"$comment": _TEXT, **schema.get("properties", {})}
    return {**schema, "description": path, "properties": properties}


def _object(**properties: Schema) -> Schema:
    """An object that has all of these."""
    return {"type": "object", "required": list(properties), "properties": properties}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _described(description: str) -> Schema:
    return {"description": description} if description else {}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


_RUN = _object(multiple_of=_COUNT, min=_COUNT, max=_or_null(_COUNT))
_INTS = _list({"anyOf": [_COUNT, _RUN]}, "Numbers and runs of multiples; empty: none.")
_VERSIONS = _map(_TEXT, "By distribution: a PEP 440 specifier, any, none (not in it) or unknown.")
_PART = _object(
    name=_TEXT,
    dtype={"enum": list(BITS)},
    count={**_COUNT, "description": "Elements."},
    scaled_by=_or_null(_TEXT),
    group=_or_null(_COUNT),
)
_VERIFIED = _object(
    file={**_TEXT, "description": "The evidence file in the repository."},
    gpu=_TEXT,
    compute_capability=_GPU,
    provider=_ref("provider"),
    date={"type": "string", "format": "date"},
    dtypes=_list(_TEXT, "Those of the right cases."),
    features=_list({"enum": list(FEATURES)}, "Those of the right cases."),
    right={**_COUNT, "description": "Cases that came out right."},
    stale={"type": "boolean", "description": "The claim is for a later version too."},
)
_CELL = _object(
    phase={"enum": list(PHASES)},
    compute_capability=_list(_TEXT, 'Patterns such as "9.0" and "10.x".'),
    except_capability=_list(_TEXT),
    kernel=_or_null(_TEXT),
    spellings=_list(_TEXT, "KV-cache dtypes that a user may type."),
    kv_cache_dtype={**_TEXT, "description": "What they resolve to."},
    kv_format=_or_null(_TEXT),
    extra_kv_format=_or_null(_TEXT),
    bytes_per_token=_or_null(_COUNT),
    dtypes=_list(_TEXT),
    head_sizes=_ref("ints"),
    query_heads=_ref("ints"),
    padded_to=_list(_COUNT),
    block_sizes=_ref("ints"),
    page_size=_or_null(_COUNT),
    topk=_ref("ints"),
    features=_list({"enum": list(FEATURES)}),
    unknown_features=_list({"enum": list(FEATURES)}),
    versions=_or_null(_ref("versions")),
    engines=_or_null(_ref("versions")),
    unknown=_list(_TEXT, "Axes that nobody has established."),
    sources=_list(_TEXT),
    evidence=_list(_ref("verified"), "What probes have verified of it."),
    notes=_list(_TEXT),
    refuses=_or_null(_TEXT),
)
_ANSWER = _object(
    kv_cache_dtypes=_list(_TEXT),
    compute_capabilities=_list(_GPU),
    state={"enum": list(STATES)},
    records=_list(_TEXT, "Probes that bear on it: GPU, version and date."),
    cells=_list({"type": "integer", "minimum": 0}, "Numbers of the cells that take it."),
    reasons=_list(_object(field=_FIELD, message=_TEXT)),
    known_issues=_list(_TEXT),
)
_BACKEND = _object(
    name=_TEXT,
    summary=_TEXT,
    mla=_or_null({"type": "boolean"}),
    sparse=_or_null({"type": "boolean"}),
    supported_dtypes=_list(_TEXT),
    supported_kv_cache_dtypes=_list(_TEXT),
    supported_features=_list({"enum": list(FEATURES)}),
    head_sizes={**_ref("ints"), "description": "Claimed; empty: any."},
    notes=_list(_TEXT),
    differs=_list(_TEXT),
    sources=_list(_TEXT),
    cells=_list(_ref("cell"), "What runs."),
    refusals=_list(_ref("cell"), "What is known not to work; they take nothing."),
    support=_list(_ref("answer"), "The verdict on each KV-cache dtype and GPU, each once."),
)
_KERNEL = _object(
    name=_TEXT,
    title=_TEXT,
    library=_TEXT,
    adapter=_or_null(_TEXT),
    phase={"enum": list(PHASES)},
    rows=_list(
        _object(
            compute_capability=_list(_TEXT),
            versions=_ref("versions"),
            evidence=_list(_ref("verified"), "What probes have verified of it."),
        )
    ),
    exceptions=_list(_object(reason=_TEXT, sources=_list(_TEXT)), "Right, but left unclaimed."),
    notes=_list(_TEXT),
)
_KV_FORMAT = _object(
    name=_TEXT,
    title=_TEXT,
    head_size={**_COUNT, "description": "Semantic elements."},
    bytes_per_token=_COUNT,
    data=_list(_ref("part")),
    scales=_list(_ref("part")),
    arrangement={"enum": ["token_by_token", "data_then_scales"]},
    round_up_to={**_COUNT, "description": "A page is a multiple of so many bytes."},
    data_bytes={"type": "integer"},
    scale_bytes={"type": "integer"},
)
_NAMES = _list(_TEXT)

SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "attnmatrix data, version 1",
    "$defs": {
        "index": _file(
            "index.json",
            _object(
                backends=_NAMES, kernels=_NAMES, kv_formats=_NAMES, gpus=_NAMES, reasons=_NAMES
            ),
        ),
        "matrix": _file(
            "matrix.json",
            _object(
                states=_map(_TEXT, "What each state means."),
                backends=_map(
                    _map(_map({"enum": list(STATES)})),
                    "State by backend, KV-cache dtype and compute capability.",
                ),
            ),
        ),
        "reasons": _file(
            "reasons.json",
            _object(
                reasons=_map(_object(title=_TEXT, means=_TEXT, cures=_NAMES)),
                errors=_list(
                    _object(says=_TEXT, by=_TEXT, field=_FIELD, means=_TEXT, sources=_NAMES)
                ),
            ),
        ),
        "gpus": {**_map(_TEXT), "description": "gpus.json: compute capability by GPU name."},
        "backend": _file("backends/NAME.json", _BACKEND),
        "kernel": _file("kernels/NAME.json", _KERNEL),
        "kv_format": _file("kv_formats/NAME.json", _KV_FORMAT),
        "cell": {**_CELL, "description": "Where a backend's claim and its kernel's row agree."},
        "answer": _ANSWER,
        "verified": {**_VERIFIED, "description": "What one evidence file says of a claim."},
        "provider": _object(distribution=_TEXT, version=_TEXT),
        "part": _PART,
        "ints": _INTS,
        "versions": _VERSIONS,
    },
}
"""A definition for each kind of file; `$comment` at a file's head says what made it."""
