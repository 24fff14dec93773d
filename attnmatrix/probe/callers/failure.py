"""What an exception of a library means: refused, untested, or the end of this process."""

from __future__ import annotations

import re
import subprocess

import torch

from attnmatrix.kernels.errors import KernelError

from ..case import Answer

WORDS = 3
"""Lines of a library's words that are kept."""


class FatalError(RuntimeError):
    """The CUDA context is broken: this process can try nothing more."""


_OURS = re.compile(
    r"missing value for argument|expected at most \d+ argument|unknown keyword argument"
    r"|unexpected keyword argument|missing \d+ required|takes \d+ positional"
    r"|Expected a value of type|incompatible function arguments",
    re.IGNORECASE,
)
"""Of a call that does not match the function's signature, which says nothing of the kernel."""

_BUILD = re.compile(r"ninja build failed|failed to get |artifact not found|nvcc|no cubin", re.I)
"""Of a module that could not be built or fetched here."""

_ASSERTED = re.compile(r"static assert[^\n]*")
_TRACE = re.compile(r"^(Exception raised from|Traceback|C\+\+ CapturedTraceback|frame #)", re.M)


def settle(device: torch.device) -> None:
    """Waits for the GPU. Raises FatalError if that is lost, or what a launch left unsaid."""
    if device.type != "cuda":
        return
    require_alive(device)
    torch.ones(1, device=device).add_(1)  # a launch reports an error that an earlier one left


def require_alive(device: torch.device) -> None:
    """Raises FatalError if the CUDA context is broken."""
    if device.type != "cuda":
        return
    try:
        torch.cuda.synchronize(device)
    except RuntimeError as error:
        raise FatalError(first_words(error)) from error


def answer_to(error: Exception) -> Answer:
    """The answer that a library's exception makes. Raises it anew if the fault is ours."""
    text = str(error)
    if isinstance(error, KernelError):  # of a tool that prepares the call
        raise error
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "out of memory" in text:
        return Answer("untested", None, "out of memory")
    if isinstance(error, (ImportError, OSError, subprocess.SubprocessError)):
        return Answer("untested", None, first_words(error))
    asserted = _ASSERTED.search(text)
    if asserted is not None:  # the compiler says what the library's source says
        return Answer("refused", None, asserted.group())
    if _BUILD.search(text):
        return Answer("untested", None, first_words(error))
    if _OURS.search(text):
        raise error
    return Answer("refused", None, first_words(error))


def first_words(error: BaseException) -> str:
    """The kind of an exception and the first lines of its text, less traces of a stack."""
    text = _TRACE.split(str(error), maxsplit=1)[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()][:WORDS]
    return ": ".join(filter(None, (type(error).__name__, " ".join(lines))))
