"""Every good example is taken; every bad one is refused with exactly the findings it announces."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from attnmatrix.codegen.load import check, load
from attnmatrix.codegen.problems import CODES, InvalidSource
from attnmatrix.codegen.render import render
from attnmatrix.codegen.source import parse_source
from tests.sources import BAD, BASE, EXAMPLES, GOOD, REAL, bad_evidence, bad_text, dump, expected

GOOD_FILES = [EXAMPLES / "base.yaml", *GOOD]


def problems(path: Path) -> tuple[str, InvalidSource]:
    files, faults = bad_evidence(path)
    with pytest.raises(InvalidSource) as caught:
        check(parse_source(bad_text(path), "bad.yaml", strict=False), files, (), faults)
    return str(caught.value), caught.value


@pytest.mark.parametrize("path", GOOD_FILES, ids=lambda path: path.stem)
def test_good_example_is_taken(path):
    assert render(load(path))


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_example_is_refused(path):
    text = bad_text(path)
    wanted = expected(text)
    assert wanted, "a bad example says what it expects"
    shown, error = problems(path)
    own = len(path.read_text(encoding="utf-8").splitlines())
    own = max(own, *(line for line, *_ in wanted))
    # What follows the example's own lines is the base, which may name what the example renames.
    told = [problem for problem in error.problems if problem.place.line <= own]
    found = [(p.place.line, p.place.column, p.code) for p in told]
    assert found == [finding[:3] for finding in wanted], shown
    for problem, (*_, words) in zip(told, wanted, strict=True):
        assert words in str(problem)


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_finding_names_its_place_and_what_to_do(path):
    shown, error = problems(path)
    for problem in error.problems:
        assert problem.place.file == "bad.yaml" or path.stem in problem.place.file
        start = f"{problem.place}: error[{problem.code}]: "
        assert start + problem.message in shown
        assert problem.message
        # YAML's own words on text that it cannot read come without advice.
        assert problem.hint or problem.code in ("not-yaml", "invalid-value", "wrong-type")


@pytest.mark.parametrize("code", CODES)
def test_each_code_has_a_bad_example(code):
    assert any(finding[2] == code for path in BAD for finding in expected(bad_text(path)))


def test_no_bad_example_announces_an_unknown_code():
    codes = {finding[2] for path in BAD for finding in expected(bad_text(path))}
    assert codes <= set(CODES)


def test_the_file_of_this_repository_is_taken():
    assert load(REAL).document.backends


def test_findings_of_one_file_come_in_its_order():
    shown, error = problems(EXAMPLES / "bad" / "several_at_once.yaml")
    places = [(problem.place.line, problem.place.column) for problem in error.problems]
    assert places == sorted(places)
    assert len({problem.code for problem in error.problems}) > 3
    assert [line for line in shown.splitlines() if line.startswith("bad.yaml:")] == [
        f"{p.place}: error[{p.code}]: {p.message}" for p in error.problems
    ]


# Whatever stands anywhere is taken or refused, and never a crash.

ODD: list[Any] = [
    *(
        "",
        "any",
        "none",
        "unknown",
        "0.0",
        "45.0",
        "9.0",
        "٩.٠",
        "é:ü",
        "os:system",
        "a.b",
        "{{x}}",
    ),
    *("-->", "x\ny", "a" * 300, 0, -1, 1, 10**17, 10**18, True, [], {}, [[]], [{}], ["x", "x"]),
    *([True], [1, "a"], ["any"], {"x": "y"}, {"": 1}, {"min": 1}, {"pad_to": [1]}),
]


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(data, dict | list):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(item, (*path, key))


FORMS = [
    yaml.safe_load(BASE),
    yaml.safe_load((EXAMPLES / "good" / "every_form.yaml").read_text("utf-8")),
]
PLACES = [(form, path) for form in FORMS for path in places(form)]


@settings(max_examples=300)
@given(st.sampled_from(PLACES), st.sampled_from(ODD), st.booleans())
def test_odd_values_and_keys_are_taken_or_refused(place, odd, as_key):
    form, path = place
    data = holder = deepcopy(form)
    for step in path[:-1]:
        holder = holder[step]
    if as_key and isinstance(holder, dict):
        holder[str(odd)] = holder.pop(path[-1])
    else:
        holder[path[-1]] = odd
    try:
        matrix = check(parse_source(dump(data), strict=False))
    except InvalidSource as error:
        assert error.problems
    else:
        assert render(matrix)
