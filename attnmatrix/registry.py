"""Names to generated classes. One module an entry, found by its name: there is no list to keep."""

from __future__ import annotations

import os
import re
from importlib import import_module

from .backend import Backend
from .errors import UnknownName
from .kernel import Kernel
from .kv_format import KVFormat
from .libraries import BUILT_IN
from .spelling import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def module_name(name: str) -> str:
    """The module of an entry: its name in lower case, every other sign an underscore."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def _names(package: str, matrix: str) -> tuple[str, ...]:
    found = []
    (folder,) = import_module(f"{matrix}.{package}").__path__
    for file in os.listdir(folder):  # pkgutil would import inspect for this: 9 ms
        if file.endswith(".py") and file != "__init__.py":
            name = getattr(import_module(f"{matrix}.{package}.{file[:-3]}"), "NAME", None)
            if name is not None:  # else no generated module: a stray file, which gen reports
                found.append(name)
    return tuple(sorted(found))


def _entry(package: str, kind: str, name: str, matrix: str) -> Any:
    try:
        module = import_module(f"{matrix}.{package}.{module_name(name)}")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.endswith(module_name(name)):
            raise
        module = None
    if module is None or getattr(module, "NAME", "").upper() != name.upper():
        known = _names(package, matrix)
        raise UnknownName(
            f"there is no {kind} {name!r}{did_you_mean(name, known)}; known: {', '.join(known)}"
        )
    return module.ENTRY


def backend_names(matrix: str = BUILT_IN) -> tuple[str, ...]:
    """Every backend, by name."""
    return _names("backends", matrix)


def get_backend(name: str, matrix: str = BUILT_IN) -> type[Backend]:
    """The class of a backend; case does not matter. Raises UnknownName, listing the known."""
    backend: type[Backend] = _entry("backends", "backend", name, matrix)
    return backend


def kv_format_names(matrix: str = BUILT_IN) -> tuple[str, ...]:
    """Every KV format, by name."""
    return _names("kv_formats", matrix)


def get_kv_format(name: str, matrix: str = BUILT_IN) -> KVFormat:
    """A KV format by its name. Raises UnknownName, listing the known."""
    found: KVFormat = _entry("kv_formats", "KV format", name, matrix)
    return found


def kernel_names(matrix: str = BUILT_IN) -> tuple[str, ...]:
    """Every kernel, by name."""
    return _names("kernels", matrix)


def get_kernel(name: str, matrix: str = BUILT_IN) -> Kernel:
    """A kernel by its name. Raises UnknownName, listing the known."""
    found: Kernel = _entry("kernels", "kernel", name, matrix)
    return found
