"""Nearest spelling, for error messages."""

from __future__ import annotations

from collections.abc import Iterable

from .sentences import sentence


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The member of `known` that `word` was most likely meant to be, or None."""
    import difflib  # costs 3 ms to import, and only errors need it

    folded = {name.casefold(): name for name in known}
    if word.casefold() in folded:
        return folded[word.casefold()]
    found = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)`, or an empty string where nothing is near."""
    match = nearest(word, known)
    return sentence("hint", word=match) if match is not None else ""
