"""Compute capabilities and the patterns that rows write for them.

A capability is a (major, minor) pair of integers, never text or a float: 12.0 is not below 9.0,
and 12.10 is not 12.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Capability = tuple[int, int]

NO_GPU: Capability = (0, 0)
"""The capability of a machine without a GPU; only the patterns `any` and `none` take it."""

DEVICES: dict[str, Capability] = {"none": NO_GPU, "rocm": (0, 1), "xpu": (0, 2)}
"""What has no compute capability, by its pattern: no GPU, AMD's GPUs, Intel's. Beside its own
pattern only `any` takes one."""

_DEVICE_NAMES = {capability: name for name, capability in DEVICES.items() if name != "none"}

_DOTTED = re.compile(r"([0-9]{1,2})\.([0-9])[a-z]?")
_TARGET = re.compile(r"(?:sm|compute)_?([0-9]{1,2})([0-9])[a-z]?")
_BOUND = re.compile(r"(>=|<=|<|>)\s*([0-9]{1,2}\.[0-9])")
_SPELLINGS = "write it as '9.0', '9.0a' or 'sm_90a'"


def parse_capability(value: Any) -> Capability:
    """The (major, minor) pair of '9.0', '9.0a', 'sm_90a', 'compute_90', (9, 0) or one of DEVICES.

    Raises ValueError for anything else; a float is refused, since 12.10 and 12.1 are one float.
    """
    if isinstance(value, str):
        text = value.strip().lower()
        if text in DEVICES:
            return DEVICES[text]
        match = _DOTTED.fullmatch(text) or _TARGET.fullmatch(text)
        if match and int(match[1]):
            return int(match[1]), int(match[2])
    elif isinstance(value, tuple | list) and len(value) == 2:
        major, minor = value
        if type(major) is int and type(minor) is int and major >= 0 and 0 <= minor <= 9:
            return major, minor
    raise ValueError(f"{value!r} is not a compute capability: {_SPELLINGS}")


def format_capability(capability: Capability) -> str:
    """'9.0' for (9, 0); 'no GPU' for NO_GPU; 'rocm' and 'xpu'."""
    if capability == NO_GPU:
        return "no GPU"
    return _DEVICE_NAMES.get(capability) or f"{capability[0]}.{capability[1]}"


class CapabilityPattern:
    """`any`, an exact `9.0`, a family `10.x`, bounds `>=8.0` or `>=8.0,<10.0`, or one of DEVICES.

    `specificity` orders them: exact 3, family 2, bounds 1, any 0. Where rows of one kernel
    overlap, the more specific pattern is the one in force.
    """

    __slots__ = ("text", "specificity", "_bounds", "_family")

    def __init__(self, text: str) -> None:
        self.text = text
        self._family: int | None = None
        self._bounds: tuple[tuple[str, Capability], ...] = ()
        if text == "any":
            self.specificity = 0
        elif text in DEVICES:
            self.specificity = 3
        elif match := re.fullmatch(r"([0-9]{1,2})\.x", text):
            self.specificity = 2
            self._family = int(match[1])
        elif re.fullmatch(r"[0-9]{1,2}\.[0-9]", text):
            self.specificity = 3
            self._bounds = (("==", _pair(text)),)
        else:
            self.specificity = 1
            matches = [_BOUND.fullmatch(bound.strip()) for bound in text.split(",")]
            if not all(matches):
                raise ValueError(
                    f"{text!r} is not a compute capability pattern: "
                    'write any, none, rocm, xpu, "9.0", "10.x", ">=8.0" or ">=8.0,<10.0"'
                )
            self._bounds = tuple((m[1], _pair(m[2])) for m in matches if m)

    def matches(self, capability: Capability) -> bool:
        """Whether a GPU of this capability, or such a device, is meant."""
        if self.specificity == 0:
            return True
        if capability[0] == 0 or self.text in DEVICES:
            return DEVICES.get(self.text) == capability
        if self._family is not None:
            return capability[0] == self._family
        return all(_holds(capability, operator, bound) for operator, bound in self._bounds)

    def __repr__(self) -> str:
        return f"CapabilityPattern({self.text!r})"


def _pair(text: str) -> Capability:
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def _holds(capability: Capability, operator: str, bound: Capability) -> bool:
    if operator == "==":
        return capability == bound
    if operator == ">=":
        return capability >= bound
    if operator == "<=":
        return capability <= bound
    return capability > bound if operator == ">" else capability < bound


def matches_any(patterns: Iterable[CapabilityPattern], capability: Capability) -> bool:
    """Whether one of the patterns matches."""
    return any(pattern.matches(capability) for pattern in patterns)
