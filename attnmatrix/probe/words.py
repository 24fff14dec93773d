"""A library's own words, as they can be kept: short, on one line, alike at every run."""

from __future__ import annotations

import re
import signal

LONGEST = 300
"""Signs of a message that are kept."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,}")
_FOLDERS = re.compile(r"(?<![\w.])(?:/[\w.+-]+)+/(?=[\w.+-]+/[\w.+-]+\b)")
_PROCESS = re.compile(r"\b(pid|PID|process|thread)([ =:#]+)\d+")
_NOISE = re.compile(r"For debugging consider|Compile with `?TORCH_USE_CUDA_DSA|CUDA kernel errors")


def tidy(text: str) -> str:
    """The text on one line, less what each run has anew: addresses, folders, process ids."""
    kept = " ".join(line for line in text.splitlines() if not _NOISE.search(line))
    for pattern, by in ((_COLOUR, ""), (_ADDRESS, "0x…"), (_FOLDERS, ""), (_PROCESS, r"\1\2…")):
        kept = pattern.sub(by, kept)
    kept = " ".join(kept.split())
    return kept if len(kept) <= LONGEST else kept[: LONGEST - 1] + "…"


def last_words(log: bytes) -> str:
    """The last lines that a process wrote, as many as fit a message."""
    lines: list[str] = []
    for line in reversed(log.decode(errors="replace").splitlines()):
        line = tidy(line)
        if sum(map(len, lines)) + len(line) > LONGEST // 2:
            break
        if line:
            lines.insert(0, line)
    return " ".join(lines)


def ending(code: int | None) -> str:
    """How a process ended, by its exit code; a negative one names a signal."""
    if code is None:
        return "the process closed its output"
    if code >= 0:
        return f"the process ended with exit code {code}"
    try:
        return f"the process ended with {signal.Signals(-code).name}"
    except ValueError:
        return f"the process ended with signal {-code}"
