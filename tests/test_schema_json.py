"""The JSON Schema that editors use: it takes what the generator takes, and explains every key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from attnmatrix.codegen.render import schema_text
from attnmatrix.codegen.source import parse_source
from tests.sources import BAD, BASE, EXAMPLES, GOOD, REAL, bad_text, expected

SCHEMA = json.loads(schema_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

# Bad examples whose fault a schema can see. Sums, names that must exist and the like it cannot.
FORM = {"unknown-key", "missing-key", "wrong-type"}
BAD_FORM = [
    path
    for path in BAD
    if {code for *_, code, _ in expected(bad_text(path))} & FORM
    and path.stem not in ("missing_provider", "empty")
]


def errors(text: str) -> list[jsonschema.ValidationError]:
    return list(VALIDATOR.iter_errors(parse_source(text, strict=False).data))


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_generated_file_is_the_schema():
    file = REAL.parent / "generated" / "capabilities.schema.json"
    assert json.loads(file.read_bytes()) == SCHEMA


def test_the_file_of_this_repository_names_its_schema():
    first = REAL.read_text(encoding="utf-8").splitlines()[:5]
    assert any(
        "yaml-language-server: $schema=generated/capabilities.schema.json" in n for n in first
    )


@pytest.mark.parametrize("path", [REAL, EXAMPLES / "base.yaml", *GOOD], ids=lambda path: path.stem)
def test_what_the_generator_takes_is_valid(path):
    assert errors(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", BAD_FORM, ids=lambda path: path.stem)
def test_a_key_or_a_type_that_is_wrong_is_invalid(path):
    assert errors(bad_text(path))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    head_size: 128\n", "    head_size: 0\n"),
        ("        topk: none\n", ""),
        ("        topk: none\n", "        topk: nothing\n"),
        ("        page_sizes: [64]\n", "        page_sizes: {multiple: 64}\n"),
        ("        page_sizes: [64]\n", "        page_sizes: [0]\n"),
        ("        query_heads: [16]\n", "        query_heads: {pad: [16]}\n"),
        ("        query_heads: [16]\n", "        query_heads: {pad_to: []}\n"),
        ("        dtypes: [bfloat16]\n", "        dtypes: [bf16]\n"),
        ("        features: [causal]\n", "        features: [casual]\n"),
        ("    features: [causal]\n", "    features: causal\n"),
        ("          bfloat16: {format: plain}\n", "          bfloat16: {fmt: plain}\n"),
        ("          bfloat16: {format: plain}\n", "          bfloat16: [plain]\n"),
        ("    mla: true\n", '    mla: "true"\n'),
        ("    phase: decode\n", "    phase: decoding\n"),
        ("    order: [ALPHA]\n", "    order: []\n"),
        ("dtype: bfloat16, count: 128", "dtype: bf16, count: 128"),
        ("arrangement: token_by_token", "arrangement: by_token"),
        ("libraries:\n", "librarys:\n"),
    ],
)
def test_a_slip_is_invalid(old, new):
    assert BASE.count(old) >= 1
    assert errors(BASE) == []
    assert errors(BASE.replace(old, new, 1))


def properties(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        for name, entry in node.get("properties", {}).items():
            yield f"{path}/{name}", entry
        for key, entry in node.items():
            yield from properties(entry, f"{path}/{key}")
    elif isinstance(node, list):
        for number, entry in enumerate(node):
            yield from properties(entry, f"{path}/{number}")


def test_every_key_is_described():
    found = dict(properties(SCHEMA))
    assert len(found) > 50
    bare = [
        path
        for path, entry in found.items()
        if not entry.get("description")
        and not SCHEMA["$defs"].get(entry.get("$ref", "").rpartition("/")[2], {}).get("description")
    ]
    assert bare == []


def test_nothing_may_be_null_and_no_title_is_made_from_a_name():
    # The reader refuses null: a key that is optional is left out.
    def check(node: Any) -> None:
        if isinstance(node, dict):
            assert node.get("type") != "null", node
            assert node.get("default", ...) is not None, node
            assert not isinstance(node.get("title"), str) or node is SCHEMA, node
            for entry in node.values():
                check(entry)
        elif isinstance(node, list):
            for entry in node:
                check(entry)

    check(SCHEMA)
    assert SCHEMA["$defs"]["Kernels"]["properties"]["prefill"]["type"] == "string"
    assert "title" in SCHEMA["$defs"]["Kernel"]["properties"]


def test_every_object_is_closed_or_a_table_of_entries():
    def objects(node: Any) -> Iterator[dict[str, Any]]:
        if isinstance(node, dict):
            if node.get("type") == "object":
                yield node
            for entry in node.values():
                yield from objects(entry)
        elif isinstance(node, list):
            for entry in node:
                yield from objects(entry)

    for found in objects(SCHEMA):
        assert found.get("additionalProperties") is not None, found
