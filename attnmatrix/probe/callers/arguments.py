"""Calls of functions whose arguments differ from release to release."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .caller import CALL_HAS_NO, NotExpressible

if TYPE_CHECKING:
    from collections.abc import Callable


def has_argument(function: Callable[..., Any], name: str) -> bool:
    """Whether a function can be given an argument by this name."""
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def call_with(function: Callable[..., Any], **arguments: Any) -> Any:
    """The function's answer. Raises NotExpressible if it lacks one of the arguments."""
    missing = [name for name in arguments if not has_argument(function, name)]
    if missing:
        raise NotExpressible(f"{CALL_HAS_NO} {', '.join(missing)}")
    return function(**arguments)
