"""The data that the site serves under /api/v1/: of the form that its schema says, and true."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import attnmatrix
from attnmatrix.codegen.load import load
from attnmatrix.codegen.render import render
from tests.sources import GOOD, REAL

DATA = Path(__file__).parents[1] / "generated" / "data"
KINDS = {
    "index.json": "index",
    "matrix.json": "matrix",
    "reasons.json": "reasons",
    "gpus.json": "gpus",
    "backends/": "backend",
    "kernels/": "kernel",
    "kv_formats/": "kv_format",
}


def kind(path: str) -> str | None:
    """The schema's definition of a data file."""
    return next((name for start, name in KINDS.items() if path.startswith(start)), None)


def rendered(source: Path) -> dict[str, dict]:
    """The data files of a source, by their path under generated/data."""
    start = "generated/data/"
    files = render(load(source))
    return {
        path.removeprefix(start): json.loads(text)
        for path, text in files.items()
        if path.startswith(start)
    }


@pytest.mark.parametrize("source", [REAL, *GOOD], ids=lambda path: path.stem)
def test_every_data_file_has_the_form_that_the_schema_says(source):
    files = rendered(source)
    schema = {k: v for k, v in files["schema.json"].items() if k != "$comment"}
    jsonschema.Draft202012Validator.check_schema(schema)
    seen = set()
    for path, content in files.items():
        name = kind(path)
        if name is not None:
            seen.add(name)
            jsonschema.validate(content, {**schema, "$ref": f"#/$defs/{name}"})
    expected = {"index", "matrix", "reasons", "backend"}
    if load(source).document.kv_formats:
        expected.add("kv_format")
    assert expected <= seen


@pytest.mark.parametrize(
    ("path", "spoil"),
    [
        ("matrix.json", lambda data: data["backends"]["FLASHMLA"]["auto"].update({"9.0": "maybe"})),
        ("backends/FLASHMLA.json", lambda data: data["support"][0].pop("state")),
        ("backends/FLASHMLA.json", lambda data: data["cells"][0].update(head_sizes="any")),
        ("kv_formats/ds_mla_v4.json", lambda data: data.update(arrangement="mixed")),
        ("reasons.json", lambda data: data["errors"][0].update(field="luck")),
    ],
)
def test_the_schema_refuses_what_is_spoilt(path, spoil):
    schema = json.loads((DATA / "schema.json").read_text(encoding="utf-8"))
    content = json.loads((DATA / path).read_text(encoding="utf-8"))
    spoil(content)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, {**schema, "$ref": f"#/$defs/{kind(path)}"})


def test_the_index_lists_every_file():
    index = json.loads((DATA / "index.json").read_text(encoding="utf-8"))
    for folder in ("backends", "kernels", "kv_formats"):
        assert {f"{name}.json" for name in index[folder]} == {
            path.name for path in (DATA / folder).iterdir()
        }
    assert index["gpus"] == list(attnmatrix.gpu_names())


def state(verdict: attnmatrix.Verdict) -> str:
    if verdict.status == "supported":
        return verdict.evidence["status"]
    if verdict.status == "unknown":
        return "unknown"
    return "known issue" if verdict.notes else "no"


@pytest.mark.parametrize("name", attnmatrix.backend_names())
def test_support_and_matrix_say_what_the_verdict_says(name):
    backend = json.loads((DATA / "backends" / f"{name}.json").read_text(encoding="utf-8"))
    matrix = json.loads((DATA / "matrix.json").read_text(encoding="utf-8"))["backends"][name]
    seen = set()
    for answer in backend["support"]:
        for spelling in answer["kv_cache_dtypes"]:
            for capability in answer["compute_capabilities"]:
                verdict = attnmatrix.judge(
                    name, compute_capability=capability, kv_cache_dtype=spelling
                )
                assert answer["state"] == matrix[spelling][capability] == state(verdict)
                assert answer["reasons"] == [
                    {"field": reason.field, "message": reason.message} for reason in verdict.reasons
                ]
                formats = {backend["cells"][number]["kv_format"] for number in answer["cells"]}
                taken = () if verdict.status == "unsupported" else verdict.cells
                assert formats == {cell.kv_format for cell in taken}
                seen.add((spelling, capability))
    assert seen == {(spelling, column) for spelling, row in matrix.items() for column in row}
    assert set(matrix) == set(attnmatrix.get_backend(name).supported_kv_cache_dtypes)
