"""Evidence files: their shape, what is refused of them, and how a record stands to its rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnmatrix.evidence import (
    AXES,
    OUTCOMES,
    InvalidEvidence,
    parse,
    read,
    stand,
    text,
    write,
)
from attnmatrix.registry import kernel_names
from attnmatrix.rows import Call, judge, load_rows
from attnmatrix.standings import RowIndex, excepted, excepted_of
from tests.records import evidence, record

ROW: dict[str, Any] = {
    "compute_capability": ["9.0"],
    "versions": {"fastlib": ">=1.2"},
    "kv_formats": ["plain"],
    "extra_kv_formats": [],
    "dtypes": ["bfloat16"],
    "head_sizes": [128],
    "query_heads": [16, 32],
    "page_sizes": [64],
    "topk": [],
    "features": {"known": ["lse"], "unknown": []},
    "refuses": None,
}


RECORDS = (
    record(),
    record(query_heads=8),
    record("refused", dtype="float16"),
    record("wrong", page_size=32),
    record("crashed", head_size=256),
    record("untested", topk=64),
    record(features=["attention_sink", "lse"]),
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, evidence(*RECORDS))
    assert path.name == "h200-fastlib-fastlib-1.4.json"
    again = read(path)
    assert again._replace(records=()) == evidence()
    assert sorted(map(str, again.records)) == sorted(map(str, RECORDS))
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_depends_on_what_was_seen_alone() -> None:
    shown = text(evidence(*RECORDS))
    shuffled = [r._replace(case=dict(reversed(r.case.items()))) for r in reversed(RECORDS)]
    assert text(evidence(*shuffled)) == shown
    lines = shown.splitlines()
    assert [line for line in lines if '"kernel"' in line] == [
        line for line in lines if line.startswith('  {"kernel": "fastlib.decode", "case": {')
    ]
    data = json.loads(shown)
    assert data["provider"] == {"distribution": "fastlib", "version": "1.4"}
    assert {*data["records"][0]} == {"kernel", "case", "outcome", "claimed", "error", "message"}
    assert list(data["records"][0]["case"]) == list(AXES)


def test_words_that_no_file_holds_are_cleaned() -> None:
    odd = record("refused")._replace(message="bad\x00\ud800 dtype\nnext \U0001f600 “x”")
    (found,) = json.loads(text(evidence(odd)))["records"]
    assert found["message"] == "bad  dtype next \U0001f600 “x”"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = write(tmp_path, evidence(record()))
    before = path.read_bytes()
    with pytest.raises(InvalidEvidence):
        write(tmp_path, evidence(record(), record()))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def edited(old: str, new: str) -> bytes:
    shown = text(evidence(*RECORDS))
    assert old in shown
    return shown.replace(old, new, 1).encode()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"gpu": "H200",', '"gpu": "H200"', "not JSON"),
        ('"gpu"', '"gpus"', "'gpu' is missing"),
        ('"gpu"', '"gpus"', "nothing reads the key 'gpus'"),
        ('"9.0"', "9.0", "compute_capability: 9.0 is not a line of text"),
        ('"9.0"', '"sm_90"', "'sm_90' is not such as"),
        ('"2026-12-03"', '"3 December"', "is not a date"),
        ('"2026-12-03"', '"20261203"', "is not a date"),
        ('"version": "1.4"', '"version": "new"', "provider:"),
        ('"version": "1.4"', '"version": "1.5"', "is called h200-fastlib-fastlib-1.5.json"),
        ('"right"', '"fine"', "outcome: 'fine'; accepted: right, refused"),
        ('"claimed": true', '"claimed": 1', "claimed: 1"),
        ('"error": 0.002', '"error": NaN', "error: nan"),
        ('"error": 0.002', '"error": null', "a right answer has one"),
        ('"error": 0.002', '"error": -0.002', "error: -0.002"),
        ('"the library refused it"', "null", "says why"),
        ('"head_size": 128', '"head_size": 128.0', "128.0 is not a positive integer"),
        ('"head_size": 128', '"head_size": null', "None is not a positive integer"),
        ('"head_size": 128, ', "", "a case holds kv_format"),
        ('"features": []', '"features": ["lse", "causal"]', "list of names in order"),
        ('"message": null', '"note": null', "a record holds kernel"),
        ('"query_heads": 8', '"query_heads": 16', "stands twice"),
        ('"query_heads": 8', '"query_heads": 99', "is out of order"),
        ("the library refused it", "\\ud800", "surrogate"),
    ],
)
def test_a_fault_is_told_with_its_line(old: str, new: str, words: str) -> None:
    shown = text(evidence(*RECORDS))
    line = shown.count("\n", 0, shown.index(old)) + 1  # of what is replaced
    whole = words.startswith(("is called", "'gpu' is"))  # of no line
    follows = words.startswith(("stands", "is out", "not JSON"))  # seen one line later
    line = 1 if whole else line + follows
    raw = edited(old, new)
    with pytest.raises(InvalidEvidence) as caught:
        parse(raw, "h200-fastlib-fastlib-1.4.json", shown="evidence/x.json")
    told = [fault for fault in str(caught.value).splitlines() if words in fault]
    assert told, str(caught.value)
    assert told[0].startswith(f"evidence/x.json:{line}: ")


def test_all_faults_are_told_at_once() -> None:
    raw = edited('"right"', '"fine"').replace(b'"refused"', b'"no"').replace(b"2026-", b"26-")
    with pytest.raises(InvalidEvidence) as caught:
        parse(raw, "h200-fastlib-fastlib-1.4.json")
    assert [fault.message.split()[0] for fault in caught.value.faults] == [
        "date:",
        "outcome:",
        "outcome:",
    ]


def test_bytes_that_are_not_utf8_are_told() -> None:
    raw = text(evidence()).encode().replace(b"H200", b"H\xff00")
    with pytest.raises(InvalidEvidence, match="x.json:2: byte 0xff is not UTF-8"):
        parse(raw, "x.json")


# How a record stands


@pytest.mark.parametrize(
    ("axes", "standings"),
    [
        ({}, "verified overclaim overclaim overclaim untested"),
        ({"page_size": 32}, "underclaim agreed hazard hazard untested"),
        ({"features": ["lse"]}, "verified overclaim overclaim overclaim untested"),
        ({"features": ["causal"]}, "excepted agreed hazard hazard untested"),
        ({"query_heads": 8}, "excepted agreed hazard hazard untested"),
        ({"query_heads": 8, "dtype": "float16"}, "underclaim agreed hazard hazard untested"),
    ],
)
def test_a_standing(axes: dict[str, Any], standings: str) -> None:
    exceptions = [
        {"reason": "not promised", "features": ["causal"]},
        {"reason": "slow", "query_heads": [8], "dtypes": ["bfloat16"]},
    ]
    found = [stand(record(o, **axes), [ROW], evidence(), exceptions) for o in OUTCOMES]
    assert found == standings.split()


@pytest.mark.parametrize(
    ("header", "standing"),
    [
        ({"provider": ("fastlib", "1.2")}, "verified"),
        ({"provider": ("fastlib", "1.1")}, "underclaim"),
        ({"provider": ("otherlib", "1.4")}, "underclaim"),
        ({"compute_capability": "10.0"}, "underclaim"),
    ],
)
def test_a_claim_holds_on_its_gpus_and_versions(header: dict[str, Any], standing: str) -> None:
    assert stand(record(), [ROW], evidence(**header)) == standing


def test_an_exception_is_for_the_gpus_and_versions_that_it_names() -> None:
    wide = record(page_size=32)
    exception = {"reason": "r", "compute_capability": ["9.0"], "versions": {"fastlib": "<2"}}
    assert stand(wide, [ROW], evidence(), [exception]) == "excepted"
    later = evidence(provider=("fastlib", "2.0"))
    assert stand(wide, [ROW], later, [exception]) == "underclaim"
    on_b200 = evidence(compute_capability="10.0")
    assert stand(wide, [ROW], on_b200, [exception]) == "underclaim"


def test_a_specific_row_silences_a_wider_one() -> None:
    anywhere = {**ROW, "compute_capability": ["any"], "page_sizes": [32, 64]}
    assert stand(record(page_size=32), [anywhere], evidence()) == "verified"
    assert stand(record(page_size=32), [anywhere, ROW], evidence()) == "underclaim"
    elsewhere = evidence(compute_capability="10.0")
    assert stand(record(page_size=32), [anywhere, ROW], elsewhere) == "verified"


def test_a_row_that_refuses_takes_nothing() -> None:
    refusing = {**ROW, "refuses": "it hangs", "features": {"known": [], "unknown": []}}
    assert stand(record("refused"), [refusing, ROW], evidence()) == "agreed"
    assert stand(record("refused", features=["lse"]), [refusing, ROW], evidence()) == "agreed"
    assert stand(record("refused"), [{**refusing, "page_sizes": [32]}, ROW], evidence()) == (
        "overclaim"
    )


CASES = st.lists(
    st.fixed_dictionaries(
        {
            "kv_format": st.sampled_from(["ds_mla_v4", "bf16_576", "bf16_512", "ds_mla_v32"]),
            "dtype": st.sampled_from(["bfloat16", "float8_e4m3fn"]),
            "head_size": st.sampled_from([512, 576]),
            "page_size": st.sampled_from([32, 64]),
            "query_heads": st.sampled_from([16, 64, 128]),
            "topk": st.sampled_from([None, 100, 128]),
            "extra_kv_format": st.sampled_from([None, "ds_mla_v4", "bf16_512"]),
            "features": st.sampled_from([[], ["lse"], ["attention_sink"], ["causal", "lse"]]),
        }
    ),
    min_size=1,
    max_size=8,
)


@given(
    st.sampled_from(kernel_names()),
    st.sampled_from([(8, 0), (9, 0), (10, 0), (10, 3), (12, 0), (12, 1)]),
    st.sampled_from([("vllm", "0.24.0"), ("vllm", "0.33.0"), ("flashinfer-python", "0.7.4")]),
    CASES,
)
def test_the_index_agrees_with_the_judge(
    kernel: str, gpu: tuple[int, int], provider: tuple[str, str], cases: list[dict[str, Any]]
) -> None:
    rows = load_rows(kernel)
    index = RowIndex(rows, gpu, provider)
    for case in cases:
        call = Call(gpu, provider, **{**case, "features": tuple(case["features"])})
        assert index.row(case) == judge(rows, call).row


@given(
    CASES,
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "compute_capability": st.sampled_from([["9.0"], ["10.x"]]),
                "kv_formats": st.sampled_from([["ds_mla_v4"], ["bf16_576", "bf16_512"]]),
                "extra_kv_formats": st.sampled_from([[], ["ds_mla_v4"]]),
                "head_sizes": st.sampled_from([[512], [576]]),
                "page_sizes": st.just([32]),
                "topk": st.just([100]),
                "features": st.sampled_from([["lse"], ["causal", "attention_sink"]]),
            },
        ),
        max_size=3,
    ),
)
def test_many_cases_are_excepted_as_each_alone(
    cases: list[dict[str, Any]], exceptions: list[dict[str, Any]]
) -> None:
    gpu, provider = (9, 0), ("vllm", "0.33.0")
    calls = [Call(gpu, provider, **{**c, "features": tuple(c["features"])}) for c in cases]
    alone = [excepted(exceptions, call) for call in calls]
    assert excepted_of(exceptions, gpu, provider, cases) == alone
