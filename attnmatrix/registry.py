"""Names to generated classes. One module an entry, found by its name: there is no list to keep."""

from __future__ import annotations

import os
import re
from importlib import import_module

from .backend import Backend
from .errors import UnknownName
from .kernel import Kernel
from .kv_format import KVFormat
from .spelling import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def module_name(name: str) -> str:
    """The module of an entry: its name in lower case, every other sign an underscore."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def _names(package: str) -> tuple[str, ...]:
    found = []
    (folder,) = import_module(f".generated.{package}", __package__).__path__
    for file in os.listdir(folder):  # pkgutil would import inspect for this: 9 ms
        if file.endswith(".py") and file != "__init__.py":
            module = import_module(f".generated.{package}.{file[:-3]}", __package__)
            found.append(module.NAME)
    return tuple(sorted(found))


def _entry(package: str, kind: str, name: str) -> Any:
    try:
        module = import_module(f".generated.{package}.{module_name(name)}", __package__)
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.endswith(module_name(name)):
            raise
        module = None
    if module is None or module.NAME.upper() != name.upper():
        known = _names(package)
        raise UnknownName(
            f"there is no {kind} {name!r}{did_you_mean(name, known)}; known: {', '.join(known)}"
        )
    return module.ENTRY


def backend_names() -> tuple[str, ...]:
    """Every backend, by name."""
    return _names("backends")


def get_backend(name: str) -> type[Backend]:
    """The class of a backend; case does not matter. Raises UnknownName, listing the known."""
    backend: type[Backend] = _entry("backends", "backend", name)
    return backend


def kv_format_names() -> tuple[str, ...]:
    """Every KV format, by name."""
    return _names("kv_formats")


def get_kv_format(name: str) -> KVFormat:
    """A KV format by its name. Raises UnknownName, listing the known."""
    found: KVFormat = _entry("kv_formats", "KV format", name)
    return found


def kernel_names() -> tuple[str, ...]:
    """Every kernel, by name."""
    return _names("kernels")


def get_kernel(name: str) -> Kernel:
    """A kernel by its name. Raises UnknownName, listing the known."""
    found: Kernel = _entry("kernels", "kernel", name)
    return found
