"""Our PEP 440 order and specifiers, held against the packaging distribution."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version as Theirs

from attnmatrix.versions import Specifier, Version, names_release, parse_version

numbers = st.integers(0, 12)
releases = st.lists(numbers, min_size=1, max_size=4).map(lambda n: ".".join(map(str, n)))


@st.composite
def versions(draw: st.DrawFn, local: bool = True) -> str:
    text = draw(st.sampled_from(["", "", "", "1!"])) + draw(releases)
    text += draw(st.sampled_from(["", "", "a1", "b2", "rc1", ".rc3", "alpha", "-c2", "_preview4"]))
    text += draw(st.sampled_from(["", "", ".post1", "-2", ".r3", "post"]))
    text += draw(st.sampled_from(["", "", ".dev0", "dev4", "-dev"]))
    if local:
        text += draw(st.sampled_from(["", "", "+cu130", "+2.git1f", "+10", "+9"]))
    return text


@st.composite
def clauses(draw: st.DrawFn) -> str:
    operator = draw(st.sampled_from(["==", "!=", ">=", "<=", ">", "<", "~="]))
    if operator == "~=":
        body = draw(st.lists(numbers, min_size=2, max_size=3).map(lambda n: ".".join(map(str, n))))
        return operator + body + draw(st.sampled_from(["", "rc1", ".post1"]))
    if operator in ("==", "!=") and draw(st.booleans()):
        return operator + draw(releases) + ".*"
    return operator + draw(versions(local=operator in ("==", "!=")))


@given(versions(), versions())
def test_order_is_that_of_packaging(a: str, b: str) -> None:
    ours = (
        parse_version(a).key < parse_version(b).key,
        parse_version(a).key == parse_version(b).key,
    )
    assert ours == (Theirs(a) < Theirs(b), Theirs(a) == Theirs(b))


@settings(max_examples=600)
@given(st.lists(clauses(), min_size=1, max_size=3), versions())
def test_specifiers_are_those_of_packaging(parts: list[str], version: str) -> None:
    text = ",".join(parts)
    theirs = SpecifierSet(text).contains(version, prereleases=True)
    assert Specifier(text).contains(parse_version(version)) == theirs


def test_order_of_the_releases_people_confuse() -> None:
    ordered = ["0.6.9", "0.6.14", "0.7.0.dev1", "0.7.0rc1", "0.7.0", "0.7.0+cu130", "0.7.0.post1"]
    assert sorted(ordered, key=lambda text: parse_version(text).key) == ordered


@pytest.mark.parametrize("text", ["", "x", "1..2", "1.0-", "==1.0", "1.0+", "1.0 2.0", "latest"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a version"):
        Version(text)


@pytest.mark.parametrize("text", ["", "1.0", "=1.0", ">=", ">=1.*", "~=1", ">=1.0,,", "≥1.0"])
def test_what_is_no_specifier_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"specifier|version"):
        Specifier(text)


@pytest.mark.parametrize(
    ("text", "distribution", "version", "named"),
    [
        ("vllm==0.33.0", "vllm", "0.33.0", True),
        ("vllm == 0.33", "vllm", "0.33.0", True),
        ("vllm==0.33.0", "vllm", "0.33.1", False),
        ("vllm>=0.23,<0.33", "vllm", "0.24.0", True),
        ("vllm", "vllm", "0.33.0", True),
        ("vllm", "vllm", None, True),
        ("vllm==0.33.0", "vllm", None, False),
        ("vllm-ascend==0.33.0", "vllm", "0.33.0", False),
        ("vllm==0.33.0", "vllm-ascend", "0.33.0", False),
    ],
)
def test_a_text_names_a_release(text, distribution, version, named):
    assert names_release(text, distribution, version) is named


@pytest.mark.parametrize("text", ["", "==0.33.0", "vllm 0.33.0", "vllm==", "vllm=0.33.0", "-=1"])
def test_a_text_that_names_no_release(text):
    with pytest.raises(ValueError, match="such as"):
        names_release(text, "vllm", "0.33.0")
