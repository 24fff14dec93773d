"""One combination of a kernel's axes, its text, and what a kernel answered."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..request import FEATURES
from ..rows import Call
from ..spelling import did_you_mean


class BadCase(ValueError):
    """A case's text that cannot be read: what is wrong and what is accepted."""


class Case(NamedTuple):
    """What is called: each axis by its name in capabilities.yaml; features sorted."""

    kernel: str
    kv_format: str
    dtype: str
    head_size: int
    query_heads: int
    page_size: int
    topk: int | None = None
    extra_kv_format: str | None = None
    features: tuple[str, ...] = ()

    def axes(self) -> dict[str, Any]:
        """Every axis but the kernel, as plain JSON data."""
        return {axis: getattr(self, axis) for axis in Call._fields[2:]} | {
            "features": list(self.features)
        }

    @classmethod
    def of(cls, kernel: str, axes: dict[str, Any]) -> Case:
        """The case whose `axes()` these are."""
        return cls(kernel, **{**axes, "features": tuple(sorted(axes["features"]))})

    def call(self, compute_capability: tuple[int, int], provider: tuple[str, str]) -> Call:
        """The case on a GPU, with a version of a distribution: what rows judge."""
        axes = {axis: getattr(self, axis) for axis in Call._fields[2:]}
        return Call(compute_capability, provider, **axes)

    def key(self) -> str:
        """The case in one word, as `--case` takes it: 'kernel=…,kv_format=…'."""
        items = {**self._asdict(), "features": "+".join(self.features)}
        return ",".join(f"{axis}={value}" for axis, value in items.items() if value)

    @classmethod
    def parse(cls, key: str) -> Case:
        """The case of a key. Raises BadCase."""
        given: dict[str, str] = {}
        for item in key.split(","):
            axis, equals, value = (part.strip() for part in item.partition("="))
            if not equals or not value:
                raise BadCase(f"{item!r} is not AXIS=VALUE, such as query_heads=64")
            if axis not in cls._fields:
                near = did_you_mean(axis, cls._fields)
                raise BadCase(f"there is no axis {axis!r}{near}; axes: {', '.join(cls._fields)}")
            if axis in given:
                raise BadCase(f"{axis} is named twice")
            given[axis] = value
        missing = [axis for axis in cls._fields if axis not in {*given, *cls._field_defaults}]
        if missing:
            raise BadCase(f"{', '.join(missing)}: missing")
        return cls(**{axis: axis_value(axis, value) for axis, value in given.items()})


class Answer(NamedTuple):
    """What came of a case.

    outcome: right, refused, wrong, crashed or untested. error: relative Frobenius error against
    float64, where something was computed. message: the library's own words, or why it is untested.
    """

    outcome: str
    error: float | None = None
    message: str | None = None


def axis_value(axis: str, text: str) -> Any:
    """An axis's value out of its text. Raises BadCase."""
    if axis in ("head_size", "query_heads", "page_size", "topk"):
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise BadCase(f"{axis}: {text!r} is not a positive integer")
        return int(text)
    if axis == "features":
        for feature in text.split("+"):
            if feature not in FEATURES:
                near = did_you_mean(feature, FEATURES)
                raise BadCase(f"features: {feature!r} is not one of {', '.join(FEATURES)}{near}")
        return tuple(sorted(set(text.split("+"))))
    return text
