"""The GPUs that a release is asked about."""

from __future__ import annotations

CAPABILITIES = tuple(
    (int(major), int(minor))
    for major, minor in (
        text.split(".") for text in "7.5 8.0 8.6 8.9 9.0 10.0 10.3 11.0 12.0 12.1".split()
    )
)
"""Compute capabilities, for each of which every question is asked."""

FURTHER_CAPABILITIES = ((7, 0), (7, 2), (8, 7), (10, 1), (10, 7))
"""GPUs of less use, of which only it is asked whether they are taken."""


def capability_text(capability: tuple[int, int] | list[int]) -> str:
    """A compute capability as text, such as '9.0'."""
    major, minor = capability
    return f"{major}.{minor}"


CAPABILITY_TEXTS = tuple(map(capability_text, CAPABILITIES))
"""CAPABILITIES as text."""

FURTHER_TEXTS = tuple(map(capability_text, FURTHER_CAPABILITIES))
"""FURTHER_CAPABILITIES as text."""
