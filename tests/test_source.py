"""The strict reader: nothing is bent, every place is right, and nothing else than its own error."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attnmatrix.codegen.problems import InvalidSource
from attnmatrix.codegen.source import parse_source, read_source
from tests.sources import dump

# What YAML text can hold: no surrogates, and of the control characters tab and newline alone.
TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\t\n\"'\\#:{}[]%&*!|>")
)
DATA = st.recursive(
    TEXT | st.integers(1 - 10**18, 10**18 - 1) | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def problems(text: str) -> list[tuple[int, int, str]]:
    with pytest.raises(InvalidSource) as caught:
        parse_source(text)
    return [(p.place.line, p.place.column, p.code) for p in caught.value.problems]


@given(
    data=DATA,
    flow=st.sampled_from([True, False, None]),
    width=st.integers(20, 200),
    unicode=st.booleans(),
    newline=st.sampled_from(["\n", "\r\n"]),
    bom=st.booleans(),
)
def test_quoted_data_reads_back_equal(tmp_path, data, flow, width, unicode, newline, bom):
    text = dump(
        data,
        default_flow_style=flow,
        width=width,
        allow_unicode=unicode,
        line_break=newline,
    )
    file = tmp_path / "source.yaml"
    file.write_bytes(b"\xef\xbb\xbf" * bom + text.encode())
    found = read_source(file).data
    assert found == data
    assert json.dumps(found) == json.dumps(data), "the order and the types are kept too"


class Layout:
    """YAML text in block style, written line by line, with the place of each key and value."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.keys: dict[tuple[Any, ...], tuple[int, int]] = {}
        self.values: dict[tuple[Any, ...], tuple[int, int]] = {}

    def filler(self) -> None:
        self.lines += self.draw(
            st.lists(st.sampled_from(["", "# remark: [", "   # x"]), max_size=1)
        )

    def scalar(self, start: str, value: Any, path: tuple[Any, ...]) -> None:
        start += " " * self.draw(st.integers(1, 3))
        self.values[path] = (len(self.lines) + 1, len(start) + 1)
        self.lines.append(
            start
            + json.dumps(value, ensure_ascii=False)
            + self.draw(st.sampled_from(["", "  # x"]))
        )

    def mapping(
        self, value: dict[str, Any], path: tuple[Any, ...], indent: str, start: str
    ) -> None:
        for key, item in value.items():
            if not start.strip():
                self.filler()
            self.keys[(*path, key)] = (len(self.lines) + 1, len(start) + 1)
            self.values.setdefault(path, self.keys[(*path, key)])
            self.entry(f"{start}{key}:", item, (*path, key), indent)
            start = indent

    def entry(self, start: str, item: Any, path: tuple[Any, ...], indent: str) -> None:
        deeper = indent + " " * self.draw(st.integers(1, 4))
        if isinstance(item, dict) and item:
            self.lines.append(start)
            self.mapping(item, path, deeper, deeper)
        elif isinstance(item, list) and item:
            self.lines.append(start)
            self.sequence(item, path, deeper)
        else:
            self.scalar(start, item, path)

    def sequence(self, value: list[Any], path: tuple[Any, ...], indent: str) -> None:
        for number, item in enumerate(value):
            self.filler()
            self.values.setdefault(path, (len(self.lines) + 1, len(indent) + 1))
            start = f"{indent}-"
            if isinstance(item, dict) and item:
                inner = start + " " * self.draw(st.integers(1, 3))
                self.mapping(item, (*path, number), " " * len(inner), inner)
            else:
                self.scalar(start, item if not isinstance(item, list) else [], (*path, number))


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    keys = st.text("abcxyz_", min_size=1, max_size=5).filter(lambda key: key != "y")
    leaves = st.text(max_size=8).map(lambda text: "".join(c for c in text if c.isprintable()))
    data = draw(
        st.dictionaries(
            keys,
            st.recursive(
                leaves | st.integers(0, 99) | st.just([]) | st.just({}),
                lambda inner: (
                    st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)
                ),
                max_leaves=8,
            ),
            min_size=1,
            max_size=4,
        )
    )
    layout = Layout(draw)
    layout.mapping(data, (), "", "")
    return layout


@settings(max_examples=60)
@given(layouts())
def test_places_are_where_keys_and_values_stand(layout):
    source = parse_source("\n".join(layout.lines) + "\n")
    for path, wanted in layout.keys.items():
        place = source.place(path, key=True)
        assert (place.line, place.column) == wanted
    for path, wanted in layout.values.items():
        if path:
            place = source.place(path)
            assert (place.line, place.column) == wanted


def test_columns_count_characters():
    source = parse_source('{"é𝄞": [ä, b], c: d}')
    assert source.place(("c",), key=True).column == 16
    assert source.place(("é𝄞", 1)).column == 12


def test_the_place_of_what_is_missing_is_that_of_its_holder():
    source = parse_source("a:\n  b: {c: d}\n")
    place = source.place(("a", "b", "x", "y"))
    assert (place.line, place.column) == (2, 3)


def plain_meaning(text: str) -> tuple[str, Any]:
    """What PyYAML's safe loader makes of a plain scalar."""
    try:
        loaded = yaml.safe_load(f"key: {text}")
    except Exception:
        return "refused", None
    value = loaded["key"]
    if isinstance(value, str):
        return "text", value
    if type(value) is bool and text.strip() in ("true", "false"):
        return "same", value
    if type(value) is int and str(value) == text.strip() and abs(value) < 10**18:
        return "same", value
    return "bent", value


PLAIN = st.text("0123456789.:-+_eExXobnyYfTtrusNOlaif~=< ", max_size=12) | st.from_regex(
    r"(0|-?[1-9][0-9]*|[+-]?[0-9_]+\.[0-9_]*(e[+-][0-9]+)?|0[xbo]?[0-9a-f_]+|\d\d?:\d\d(:\d\d)?"
    r"|20\d\d-\d\d?-\d\d?([T ]\d\d:\d\d:\d\d)?)",
    fullmatch=True,
)


@given(PLAIN)
@example("9.0")
@example("no")
@example("Null")
@example("010")
@example("12:10")
@example("2026-01-01")
@example("2026-99-99")
@example("0b_")
@example("=")
@example("<<")
@example("")
@example("~")
@example("1_000")
@example("-0")
def test_a_plain_scalar_that_would_be_bent_is_refused(text):
    kind, value = plain_meaning(text)
    if kind in ("refused", "bent"):
        assert problems(f"key: {text}")
        return
    found = parse_source(f"key: {text}").data["key"]
    assert (type(found), found) == (type(value), value)


@given(PLAIN)
def test_a_plain_key_that_would_be_bent_is_refused(text):
    try:
        loaded = yaml.safe_load(f"{text}: value")
    except Exception:
        loaded = None
    if isinstance(loaded, dict) and all(isinstance(key, str) for key in loaded):
        assert parse_source(f"{text}: value").data == loaded
    elif not isinstance(loaded, str):
        assert problems(f"{text}: value")


SYNTAX = st.text("ab01 \n\t:-,#'\"[]{}&*!|>?%@`~.\\\r\ufeff\x85\u2028", max_size=40)


@given(st.text() | SYNTAX)
def test_any_text_is_read_or_refused(text):
    try:
        data = parse_source(text).data
    except InvalidSource as error:
        assert error.problems
        assert all(1 <= p.place.line <= len(text) + 2 for p in error.problems)
    else:
        assert is_plain(data)


def is_plain(data: Any) -> bool:
    if isinstance(data, dict):
        return all(type(key) is str and is_plain(value) for key, value in data.items())
    if isinstance(data, list):
        return all(map(is_plain, data))
    return type(data) in (str, int, bool)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(tmp_path, content):
    file = tmp_path / "source.yaml"
    file.write_bytes(content)
    try:
        assert is_plain(read_source(file).data)
    except InvalidSource as error:
        assert error.problems


def test_bytes_that_are_not_utf8_are_refused_with_their_line(tmp_path):
    file = tmp_path / "source.yaml"
    file.write_bytes("a: b\nc: dé\n".encode("latin-1"))
    with pytest.raises(InvalidSource) as caught:
        read_source(file, name="source.yaml")
    (problem,) = caught.value.problems
    assert str(problem).startswith("source.yaml:2:1: error[not-yaml]: byte 0xe9 is not UTF-8")
    assert "save the file as UTF-8" in problem.hint


@pytest.mark.parametrize("start", [b"\xff\xfe", b"\xfe\xff", b"\x00"])
def test_other_encodings_and_nul_are_refused(tmp_path, start):
    file = tmp_path / "source.yaml"
    file.write_bytes(start + b"a: b\n")
    with pytest.raises(InvalidSource):
        read_source(file)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_carriage_returns_and_a_byte_order_mark_change_nothing(tmp_path, mark):
    file = tmp_path / "source.yaml"
    file.write_bytes(mark + b'a: |\r\n  one\r\n  two\r\nb: "c"\r\n')
    source = read_source(file)
    assert source.data == {"a": "one\ntwo\n", "b": "c"}
    assert (source.place(("b",)).line, source.place(("b",)).column) == (4, 4)
    assert source.place(("a",), key=True).column == 1


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 500 + "]" * 500,
        "{a: " * 100_000,
        "- " * 100_000,
        "".join(" " * depth + "a:\n" for depth in range(500)),
        "a" * 1_000_000 + ": [",
    ],
    ids=["open lists", "closed lists", "mappings", "block lists", "block mappings", "long key"],
)
def test_what_is_too_deep_or_long_is_refused(text):
    assert problems(text)


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("digits", [18, 19, 4300, 4301, 50_000])
def test_an_integer_is_read_or_refused_by_its_digits(digits, sign):
    text = f"a: {sign}{'9' * digits}"
    if digits <= 18:
        assert parse_source(text).data == {"a": int(text[3:])}
    else:
        assert problems(text) == [(1, 4, "invalid-value")]


def test_anchors_cannot_blow_up():
    lines = ["a0: &a0 x"] + [f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]" for n in range(1, 60)]
    assert {code for _, _, code in problems("\n".join(lines))} == {"not-yaml"}


def test_a_huge_file_is_refused_before_it_is_parsed(tmp_path):
    file = tmp_path / "source.yaml"
    with file.open("wb") as sparse:
        sparse.truncate(65 * 1024 * 1024)
    with pytest.raises(InvalidSource, match="too large"):
        read_source(file)


def test_a_long_list_is_read_whole():
    lines = [f"- 'value {number}'" for number in range(5000)]
    assert parse_source("\n".join(lines)).data == [f"value {number}" for number in range(5000)]


def test_an_absent_file_is_the_system_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_source(tmp_path / "absent.yaml")


def test_problems_are_sorted_and_each_is_told_once():
    text = "b: no\na: {x: 1, x: 2}\na: no\n"
    assert problems(text) == [
        (1, 4, "unquoted-value"),
        (2, 11, "duplicate-key"),
        (3, 1, "duplicate-key"),
    ]
