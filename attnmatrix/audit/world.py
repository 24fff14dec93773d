"""One run's view of an engine: its modules, a GPU, and stand-ins for whatever else they import."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import re
import sys
import types

from .lazy import VIRTUAL_ROOT, LazyModule
from .standins import StandIn, Unknown, torch_module
from .statements import UNKNOWN, Parsed
from .tree import pinned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .tree import Tree

_WITHHELD = {
    "asyncio",
    "ctypes",
    "http",
    "multiprocessing",
    "socket",
    "ssl",
    "subprocess",
    "urllib",
}
"""Modules of the standard library that foreign code gets stand-ins for: they reach the machine."""

_MODULES_OF = {
    "flashinfer-python": "flashinfer",
    "nvidia-cutlass-dsl": "cutlass",
    "nvidia-ml-py": "pynvml",
    "opencv-python-headless": "cv2",
    "pillow": "PIL",
    "protobuf": "google",
    "pyyaml": "yaml",
    "pyzmq": "zmq",
    "quack-kernels": "quack",
}
_COMPILED = re.compile(r"(^|\.)_\w*C\w*$")  # how engines name compiled modules: _C, _moe_C
_ALWAYS = {"torch", "triton", "numpy", "packaging", "typing_extensions"}  # torch brings the others


class Sources:
    """The parsed modules of a tree; one for all worlds."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._parsed: dict[str, Parsed | None] = {}

    def parsed(self, module: str) -> Parsed | None:
        """A module's statements; None for a folder without source. Raises SyntaxError."""
        if module not in self._parsed:
            file = self.tree.module_file(module)
            text = None if file is None else self.tree.read(file)
            self._parsed[module] = None if text is None else Parsed(text, f"{VIRTUAL_ROOT}/{file}")
        return self._parsed[module]

    def place(self, path: str) -> list[Any] | None:
        """The file and line where a dotted path's last name is defined; None if it is not."""
        module, _, name = path.rpartition(".")
        try:
            parsed = self.parsed(module)
        except SyntaxError:
            return None
        found = parsed.binding(parsed.body, name) if parsed else []
        if not parsed or not found:
            return None
        return [self.tree.module_file(module), parsed.line(found[-1])]


class World:
    """Modules that have run for one GPU. A new GPU needs a new world: modules keep what they saw.

    overrides: (module, name) -> a function giving the value that the module's own would have.
    """

    def __init__(
        self, sources: Sources, overrides: dict[tuple[str, str], Callable[[], Any]] | None = None
    ) -> None:
        self.sources = sources
        self.tree = sources.tree
        self.overrides = overrides or {}
        self._values: dict[tuple[str, str], Any] = {}
        self._modules: dict[str, Any] = {}
        self._guarded = False
        self._torch = torch_module()
        self.builtins: dict[str, Any] = {
            **vars(builtins),
            "__import__": self._import,
            "callable": _callable,
            "getattr": _getattr,
            "hasattr": _hasattr,
            "open": _refuse_open,
            UNKNOWN: Unknown,
            f"{UNKNOWN}_stand_in": lambda error: StandIn(str(error)),
        }
        present = {name.replace("-", "_") for name in self.tree.requirements}
        present |= {_MODULES_OF[name] for name in self.tree.requirements if name in _MODULES_OF}
        self._present = present | _ALWAYS

    def override(self, module: str, name: str) -> Any:
        """The value that stands in place of a module's own name; None where there is none."""
        key = (module, name)
        if key in self.overrides and key not in self._values:
            self._values[key] = self.overrides[key]()
        return self._values.get(key)

    @contextlib.contextmanager
    def guarding(self, guarded: bool) -> Iterator[None]:
        """Says whether a failing import would be caught by the statement that runs."""
        before, self._guarded = self._guarded, guarded
        try:
            yield
        finally:
            self._guarded = before

    def load(self, name: str) -> Any:
        """A module of the engine, not run yet. Raises ImportError where it is not there."""
        if name in self._modules:
            return self._modules[name]
        tree = self.tree
        file = tree.module_file(name)
        module: Any
        if file is not None or name.replace(".", "/") in tree.folders:
            package = file is None or file.endswith("/__init__.py")
            try:
                module = LazyModule(self, name, self.sources.parsed(name), package)
            except SyntaxError as error:
                raise Unknown(f"{name} cannot be parsed by this Python: {error.msg}") from None
            sys.modules[name] = module  # dataclasses look there for the module of a class
        elif name in tree.extensions:
            module = StandIn(name)
        else:
            self.check_compiled(name)
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        self._modules[name] = module
        return module

    def check_compiled(self, name: str) -> None:
        """Raises Unknown where a missing module may be one that a build would have made."""
        if not self.tree.extensions and _COMPILED.search(name):
            raise Unknown(f"whether {name} is built; this release holds no compiled modules")

    def is_present(self, module: str) -> bool:
        """Whether an installation of the release brings a third-party module along.

        Raises Unknown where its requirements do not say.
        """
        top = module.split(".")[0]
        if top == self.tree.package:
            return self.tree.has_module(module)
        if top in sys.stdlib_module_names:
            return True
        if top in self._present and module == top:
            return True
        raise Unknown(f"whether {module} is installed")

    def _import(
        self,
        name: str,
        globals: dict[str, Any] | None = None,  # noqa: A002 - what Python passes
        locals: dict[str, Any] | None = None,  # noqa: A002
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> Any:
        if level:
            parts = (globals or {})["__package__"].split(".")
            name = ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])
        top = name.split(".")[0]
        if top == self.tree.package:
            module = self.load(name)
            return module if fromlist else self.load(top)
        if name == "torch" or (top == "torch" and not fromlist):
            return self._torch
        if top == "torch":
            found = self._torch
            for part in name.split(".")[1:]:
                found = getattr(found, part)
            return found
        if name in ("importlib", "importlib.util", "importlib.metadata"):
            return self._importlib(name if fromlist else "importlib")
        if top == "typing_extensions":
            import typing

            return (
                typing if all(hasattr(typing, part) for part in fromlist or ()) else StandIn(name)
            )
        if top in sys.stdlib_module_names and top not in _WITHHELD:
            return builtins.__import__(name, globals, locals, fromlist or ())
        if (self._guarded or locals is None) and top not in self._present | _WITHHELD:
            raise Unknown(f"whether {top} is installed")
        return StandIn(name if fromlist else top)

    def _importlib(self, name: str) -> Any:
        shim = types.SimpleNamespace(
            util=types.SimpleNamespace(find_spec=self._find_spec, module_from_spec=StandIn("spec")),
            metadata=types.SimpleNamespace(
                version=self._version,
                PackageNotFoundError=ModuleNotFoundError,
                distribution=StandIn("importlib.metadata.distribution"),
                entry_points=StandIn("importlib.metadata.entry_points"),
            ),
            import_module=self._import_module,
            reload=StandIn("importlib.reload"),
            machinery=importlib.machinery,
        )
        return getattr(shim, name.rpartition(".")[2], shim)

    def _find_spec(self, name: str, package: str | None = None) -> Any:
        return StandIn(f"the spec of {name}") if self.is_present(name) else None

    def _import_module(self, name: str, package: str | None = None) -> Any:
        return self._import(name, {"__package__": package or ""}, None, ("*",), 0)

    def _version(self, distribution: str) -> str:
        name = re.sub(r"[-_.]+", "-", distribution).lower()
        if name == self.tree.package and self.tree.version:
            return self.tree.version
        version = pinned(self.tree.requirements.get(name, ""))
        if version is not None:
            return version
        raise Unknown(f"which version of {distribution} is installed")


def _callable(value: object) -> bool:
    if isinstance(value, StandIn):
        raise Unknown(f"whether {value!r} is callable")
    return callable(value)


def _hasattr(value: object, name: str) -> bool:
    if isinstance(value, StandIn):
        raise Unknown(f"whether {value!r} has {name}")
    return hasattr(value, name)


def _getattr(value: Any, name: str, *default: Any) -> Any:
    if default and isinstance(value, StandIn):
        raise Unknown(f"whether {value!r} has {name}")
    return getattr(value, name, *default)


def _refuse_open(*_: object, **__: object) -> None:
    raise Unknown("a file of the machine")
