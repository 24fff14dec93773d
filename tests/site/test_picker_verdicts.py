"""The picker's verdicts are those of the runtime: verdict, reasons, resolved names, selection."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

import attnmatrix
from attnmatrix import RequestError, explain, judge, select
from attnmatrix.index import describe_ints
from attnmatrix.intset import IntSet, Multiples
from attnmatrix.spelling import nearest
from attnmatrix.versions import Specifier, Version
from tests.site.requests import (
    Fields,
    as_chosen,
    as_request,
    choice_grid,
    edge_grid,
    random_requests,
)

pytestmark = pytest.mark.browser

_ASK = """async (batch) => {
  const [judge, request] = await Promise.all(
    ["judge", "request"].map((name) => import(`/assets/picker/${name}.js`)));
  const data = judge.readData(await (await fetch("/reference/picker.jsonl")).text());
  const all = Object.keys(data.backends).sort();
  return batch.map(([backend, chosen]) => {
    const { request: asked, wrong } = request.makeRequest(data, chosen);
    if (Object.keys(wrong).length) return JSON.stringify({ wrong: Object.values(wrong) });
    if (backend) return JSON.stringify(judge.explain(data, backend, asked));
    const { selected, candidates, unranked } = judge.select(data, asked);
    const verdicts = all.map((name) => judge.judge(data, data.backends[name], asked).status);
    return JSON.stringify({ selected, unranked, verdicts, tried: candidates });
  });
}"""


def expected(backend: str | None, fields: Fields) -> dict[str, Any]:
    """What the runtime says: the verdict of one backend, or the whole selection, with the verdicts
    of those that were not tried."""
    try:
        request = as_request(fields)
    except RequestError as error:
        return {"wrong": [str(error).partition(": ")[2]]}
    if backend:
        return judge(backend, request).to_json()
    selection = select(request)
    return {
        "selected": selection.selected and selection.selected.name,
        "unranked": [backend.name for backend in selection.unranked],
        "verdicts": [verdict.status for verdict in explain(request=request)],
        "tried": [verdict.to_json() for verdict in selection.candidates],
    }


def _same_fault(fault: str, told: str) -> bool:
    """Whether both say the same, but for what to do next, which is typed in one and chosen in the
    other."""
    return fault.partition("; ")[0] == told.partition("; ")[0]


def walk(page: Any, listed: list[tuple[str | None, Fields]]) -> Counter[str]:
    """Asks both; returns how often each verdict and each reason's field came up."""
    page.goto("")
    seen: Counter[str] = Counter()
    for start in range(0, len(listed), 1000):
        batch = listed[start : start + 1000]
        answers = page.evaluate(_ASK, [(name, as_chosen(fields)) for name, fields in batch])
        for (name, fields), answer in zip(batch, answers, strict=True):
            wanted = json.loads(json.dumps(expected(name, fields)))
            found = json.loads(answer)
            if "wrong" in wanted:  # the runtime tells the first fault, the picker each
                (fault,) = wanted["wrong"]
                assert any(_same_fault(fault, told) for told in found["wrong"]), (fields, found)
                seen["unreadable"] += 1
                continue
            assert found == wanted, (name, fields)
            seen.update(wanted.get("verdicts", ()))
            for verdict in wanted.get("tried", (wanted,)):
                seen[verdict["verdict"]] += 1
                seen.update(reason["field"] for reason in verdict["reasons"])
    return seen


def test_every_edge_of_every_cell(page: Any) -> None:
    listed = edge_grid()
    seen = walk(page, [*listed])
    assert {"supported", "unsupported", "unknown"} <= set(seen)
    assert {"compute_capability", "kv_cache_dtype", "dtype", "mla", "sparse", "sink"} <= set(seen)
    assert {"head_size", "block_size", "query_heads", "topk", "phase", "features"} <= set(seen)
    assert {"libraries"} <= set(seen)


def test_what_people_choose(page: Any) -> None:
    seen = walk(page, [(None, fields) for fields in choice_grid()])
    assert {"supported", "unsupported", "engine", "query_heads", "kv_cache_dtype"} <= set(seen)
    assert len(attnmatrix.model_names()) > 10


def test_what_nobody_listed(page: Any) -> None:
    seen = walk(page, [(None, fields) for fields in random_requests(seed=5, count=1500)])
    assert {"supported", "unknown", "unreadable", "libraries", "features", "topk"} <= set(seen)


_MEMORY = """async (asked) => {
  const { readData } = await import("/assets/picker/judge.js");
  const { kvCacheBytes } = await import("/assets/picker/request.js");
  const data = readData(await (await fetch("/reference/picker.jsonl")).text());
  return asked.map(([model, ...sizes]) => kvCacheBytes(data.models[model], ...sizes));
}"""


def test_kv_memory(page: Any) -> None:
    page.goto("")
    asked = [
        (name, context, 584, extra)
        for name in attnmatrix.model_names()
        for context in (1, 100, 127, 128, 129, 4097, 1_048_576)
        for extra in (None, 288)
    ]
    assert page.evaluate(_MEMORY, asked) == [
        attnmatrix.get_model(name).kv_cache_bytes(*sizes) for name, *sizes in asked
    ]


_PIECES = """async ({ sets, specifiers, versions, words }) => {
  const [{ describe }, { contains, parseVersion }, { nearest }] = await Promise.all(
    ["sets", "versions", "spelling"].map((name) => import(`/assets/picker/${name}.js`)));
  const read = versions.map(parseVersion);
  return {
    described: sets.map((group) => describe(group)),
    contained: specifiers.map((text) => read.map((version) => contains(text, version))),
    nearest: words.map((word) => nearest(word, words.filter((other) => other !== word))),
  };
}"""


def test_sets_versions_and_spellings_beyond_what_the_matrix_holds(page: Any) -> None:
    chosen = random.Random(5)

    def numbers() -> IntSet:
        singles = chosen.sample(range(1, 40), chosen.randrange(4))
        runs = [
            Multiples(base, chosen.randrange(1, 20), chosen.choice([None, 16, 17, 24, 32]))
            for base in chosen.choices((1, 4, 8), k=chosen.randrange(3))
        ]
        return IntSet(singles, runs)

    groups = [[numbers() for _ in range(chosen.randrange(1, 4))] for _ in range(2000)]
    releases = ("0.24", "0.24.0", "0.33.0", "1!0.1", "v2")
    suffixes = ("", "rc1", ".dev3", "a2.post1", ".post2", "+cu13.0", "-4")
    versions = [release + suffix for release in releases for suffix in suffixes]
    operators = ("==", "!=", ">=", "<=", "<", ">")
    specifiers = [f"{op}{v}" for op in operators for v in versions]
    specifiers += ["~=0.24.0", "~=0.24", "==0.24.*", "!=0.33.*", ">=0.24,<0.33", ">0.24, <1!0.1"]
    words = ["fp8_ds_mla", "fp8_ds_mlaa", "fp8", "fp16", "bfloat16", "float16", "flaot16", "FP8_E4"]
    page.goto("")
    asked = {
        "sets": [
            [[*s.values, *([m.base, m.first, m.maximum] for m in s.multiples)] for s in group]
            for group in groups
        ],
        "specifiers": specifiers,
        "versions": versions,
        "words": words,
    }
    found = page.evaluate(_PIECES, asked)
    assert found["described"] == [list(describe_ints(group)) for group in groups]
    assert found["contained"] == [
        [Specifier(text).contains(Version(version)) for version in versions] for text in specifiers
    ]
    assert found["nearest"] == [nearest(w, [o for o in words if o != w]) for w in words]
