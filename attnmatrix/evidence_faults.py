"""What can be wrong with an evidence file: everything at once, each with its line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import date
from math import inf
from operator import itemgetter, lt
from typing import Any

from .evidence import (
    AXES,
    HEADER,
    OUTCOMES,
    Evidence,
    Fault,
    InvalidEvidence,
    Record,
    order,
    ordered,
)
from .versions import parse_version

_WORD = r"[A-Za-z0-9][\w.+-]*"
_WRITE = "let attnmatrix probe --write write the file"
_PROVIDER = {"distribution", "version"}
_NONE = type(None)
_NAMES = ("kv_format", "dtype", "extra_kv_format")
_TYPES: dict[str, set[type]] = {
    **{axis: {str} if axis in _NAMES else {int} for axis in AXES},
    "extra_kv_format": {str, _NONE},
    "topk": {int, _NONE},
    "features": {list},
}
_WANTED = {
    **{axis: "a name" if axis in _NAMES else "a positive integer" for axis in AXES},
    "extra_kv_format": "a name or null",
    "topk": "a positive integer or null",
    "features": "a list of names in order, each once",
}


def parsed(raw: bytes, shown: str, loads: Callable[[bytes], Any]) -> Any:
    """The data of a JSON text, by `loads` or, where that fails, by the standard parser."""
    try:
        return loads(raw)
    except ValueError:
        pass
    try:
        return json.loads(raw)
    except json.JSONDecodeError as error:
        fault = Fault(error.lineno, f"not JSON: {error.msg} at column {error.colno}", _WRITE)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        fault = Fault(line, f"byte {raw[error.start]:#04x} is not UTF-8", "save the file as UTF-8")
    raise InvalidEvidence(shown, [fault]) from None


def faults_of(data: Any, raw: bytes, file: str) -> list[Fault]:
    """Everything wrong with the data that `raw`, a file of this name, holds."""
    if not isinstance(data, dict):
        return [Fault(1, "an evidence file holds a JSON object", _WRITE)]
    faults = list(_header_faults(data, raw))
    if not faults:
        provider = (data["provider"]["distribution"], data["provider"]["version"])
        named = Evidence(**{n: data[n] for n in HEADER} | {"provider": provider}).file_name
        if named != file:
            faults.append(Fault(1, f"a file that holds this is called {named}", "rename it"))
    items = data.get("records")
    if isinstance(items, list) and not _are_sound(items):
        found = _record_faults(items)
        lines = record_lines(raw)
        faults += [Fault(lines[number], *words) for number, *words in found]
    if rb"\ud" in raw and not faults:  # half of a pair is no sign, and nothing could print it
        lines = record_lines(raw)
        for line, item in zip(lines, data["records"], strict=True):
            if re.search("[\ud800-\udfff]", item["message"] or ""):
                faults.append(Fault(line, "message: a lone surrogate", _WRITE))
    return faults


def _header_faults(data: dict[str, Any], raw: bytes) -> Iterator[Fault]:
    for name in (*HEADER, "records"):
        if name not in data:
            yield Fault(1, f"the key {name!r} is missing", f"present: {', '.join(data) or 'none'}")
    for name, value in data.items():
        message = ""
        if name == "records":
            message = "" if isinstance(value, list) else "records: this is a list"
        elif name not in HEADER:
            message = f"nothing reads the key {name!r}"
        elif name == "provider":
            if not _is_provider(value):
                accepted = '{"distribution": "vllm", "version": "0.33.0"}'
                message = f"provider: {value!r} is not of the form {accepted}"
        elif not isinstance(value, str) or not value.strip() or "\n" in value:
            message = f"{name}: {value!r} is not a line of text"
        elif wanted := _malformed(name, value):
            message = f"{name}: {value!r} is not {wanted}"
        if message:
            key = re.search(rb'^\s*"%s"\s*:' % re.escape(name.encode()), raw, re.MULTILINE)
            yield Fault(raw.count(b"\n", 0, key.end()) + 1 if key else 1, message, _WRITE)


def _is_provider(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and {*value} == _PROVIDER
        and all(isinstance(part, str) for part in value.values())
        and not _malformed("library", value["distribution"])
        and not _malformed("torch", value["version"])
    )


def _malformed(name: str, value: str) -> str:
    """What a text of the header should have been, or ""."""
    if name == "compute_capability":
        return "" if re.fullmatch(r"\d{1,2}\.\d", value, re.ASCII) else 'such as "9.0"'
    if name == "library":
        return "" if re.fullmatch(_WORD, value, re.ASCII) else "a name"
    try:
        if name == "date" and date.fromisoformat(value).isoformat() != value:
            return "a date such as 2026-12-03"
        if name in ("torch", "attnmatrix"):
            parse_version(value)
    except ValueError:
        return "a date such as 2026-12-03" if name == "date" else "a version such as 2.13.0"
    return ""


def _are_sound(items: list[Any]) -> bool:
    """Whether `_record_faults` finds nothing: column by column, each value once, so that a file of
    thousands takes little time."""
    fields, axes = itemgetter(*Record._fields), itemgetter(*AXES)
    try:
        records = [fields(item) for item in items if len(item) == len(Record._fields)]
        cases = [axes(case) for _, case, *_ in records if len(case) == len(AXES)]
        if len(cases) < len(items):
            return False
        if any(_outcome_faults(*shape) for shape in {_shape(*record[2:]) for record in records}):
            return False
        columns = list(zip(*cases, strict=True))
        for axis, column in zip(AXES, columns, strict=False):
            values = map(tuple, column) if axis == "features" else column
            if {*map(type, column)} - _TYPES[axis] or any(_fault(axis, v) for v in {*values}):
                return False
        kernels = [kernel for kernel, *_ in records]
        if not all(isinstance(kernel, str) and kernel for kernel in {*kernels}):
            return False
        places = list(ordered(kernels, *columns)) if columns else []
        return all(map(lt, places, places[1:]))
    except (KeyError, TypeError):
        return False


def _record_faults(items: list[Any]) -> Iterator[tuple[int, str, str]]:
    """All that is wrong with the records, by their place in the list."""
    last: tuple[Any, ...] | None = None
    for number, item in enumerate(items):
        if not isinstance(item, dict) or {*item} != {*Record._fields}:
            yield number, f"a record holds {', '.join(Record._fields)}, and nothing else", _WRITE
            continue
        kernel, case, *outcome = map(item.__getitem__, Record._fields)
        yield from ((number, *fault) for fault in _outcome_faults(*outcome))
        faults = list(_case_faults(kernel, case))
        yield from ((number, *fault) for fault in faults)
        if not faults:
            here = order(kernel, case)
            if last is not None and here <= last:
                words = "stands twice" if here == last else "is out of order"
                yield number, f"the case {shown_case(case)} {words}", _WRITE
            last = here


def shown_case(case: dict[str, Any]) -> str:
    """A case in one line: its axes, less those that it does not have."""
    return ", ".join(
        f"{axis} {', '.join(value) if isinstance(value, list) else value}"
        for axis, value in case.items()
        if value not in (None, [])
    )


def _shape(outcome: Any, claimed: Any, error: Any, message: Any) -> tuple[Any, ...]:
    """An outcome without what does not decide whether it is sound: its words and its number."""
    if type(error) is float and 0 <= error < inf:
        error = 0.5
    if type(message) is str and message:
        message = "words"
    return outcome, claimed if type(claimed) is bool else str(claimed), error, message


def _outcome_faults(outcome: Any, claimed: Any, error: Any, message: Any) -> list[tuple[str, str]]:
    found = []
    if outcome not in OUTCOMES:
        found.append((f"outcome: {outcome!r}", f"accepted: {', '.join(OUTCOMES)}"))
    if type(claimed) is not bool:
        found.append((f"claimed: {claimed!r} is neither true nor false", _WRITE))
    silent = outcome in ("refused", "crashed", "untested")
    if error is not None and not (type(error) in (int, float) and 0 <= error < inf):
        found.append((f"error: {error!r} is neither a number from 0 up nor null", _WRITE))
    elif error is None and outcome == "right":
        hint = "write the relative Frobenius error"
        found.append(("error: a right answer has one", hint))
    elif error is not None and silent:
        found.append((f"error: what was {outcome} computed nothing", "write null"))
    if message is not None and not (isinstance(message, str) and message):
        found.append((f"message: {message!r} is neither a text nor null", _WRITE))
    elif message is None and silent:
        hint = "write the library's own words"
        found.append((f"message: what was {outcome} says why", hint))
    return found


def _case_faults(kernel: Any, case: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(kernel, str) or not kernel:
        yield f"kernel: {kernel!r} is not a name", _WRITE
    if not isinstance(case, dict) or {*case} != {*AXES}:
        yield f"a case holds {', '.join(AXES)}, and nothing else", _WRITE
        return
    for axis, value in case.items():
        if type(value) not in _TYPES[axis] or _fault(axis, value):
            yield f"{axis}: {value!r} is not {_WANTED[axis]}", _WRITE


def _fault(axis: str, value: Any) -> bool:
    """Whether a value of a type that the axis takes is none that it takes."""
    if axis == "features":
        return not all(isinstance(item, str) for item in value) or [*value] != sorted({*value})
    return value is not None and (value < 1 if isinstance(value, int) else not value)


def record_lines(raw: bytes) -> list[int]:
    """The line on which each record begins, in a text that is known to be JSON."""
    whole = raw.decode()
    start = re.search(r'"records"\s*:\s*\[\s*', whole)
    decoder, between, lines = json.JSONDecoder(), re.compile(r"[\s,]*"), []
    at = start.end() if start else len(whole)
    while at < len(whole) and whole[at] != "]":
        lines.append(whole.count("\n", 0, at) + 1)
        _, at = decoder.raw_decode(whole, at)
        at += len(between.match(whole, at)[0])  # type: ignore[index]
    return lines
