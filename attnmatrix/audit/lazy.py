"""Foreign modules of which only those statements run that an answer needs.

A name that is asked for runs the top-level statements that bind it, and no others; each may ask for
further names, in its own module or another. So a class of one backend is built, with Python's own
rules for inheritance, decorators and expressions, without running the hundreds of modules that it
imports. Everything outside the engine's package and the standard library is a stand-in.
"""

from __future__ import annotations

import ast
import types

from .standins import Unknown
from .statements import Deferred, Parsed, Statement, absolute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .world import World

VIRTUAL_ROOT = "/engine-under-audit"
"""Where the engine's files seem to lie, to its own code."""


class _Builtins(dict):  # type: ignore[type-arg]
    """What a module's code falls back on: its own names that have not run yet, then Python's."""

    def __init__(self, module: LazyModule, values: dict[str, Any]) -> None:
        super().__init__(values)
        self._module = module

    def __getitem__(self, name: str) -> Any:
        if self._module.demand(name):
            return self._module.__dict__[name]
        return dict.__getitem__(self, name)


class LazyModule(types.ModuleType):
    """A module of the engine. Getting an attribute runs the statements that bind it."""

    def __init__(self, world: World, name: str, parsed: Parsed | None, package: bool) -> None:
        super().__init__(name)
        space = self.__dict__
        space["_world"], space["_parsed"], space["_done"] = world, parsed, set()
        space["_failed"] = {}
        space["__package__"] = name if package else name.rpartition(".")[0]
        if parsed is not None:
            space["__file__"] = parsed.file
        if package:
            space["__path__"] = [f"{VIRTUAL_ROOT}/{name.replace('.', '/')}"]
        space["__builtins__"] = _Builtins(self, world.builtins)

    def demand(self, name: str) -> bool:
        """Runs what binds a name; whether it is bound then. Raises what that raises."""
        space = self.__dict__
        if name in space["_failed"]:
            raise space["_failed"][name]
        override = space["_world"].override(self.__name__, name)
        if override is not None:
            space.setdefault(name, override)
        elif space["_parsed"] is not None:
            try:
                self._run(space["_parsed"].body, name)
            except (Exception, Unknown) as error:
                space["_failed"][name] = error
                raise
            if name not in space and name not in space["_world"].builtins:
                self._from_stars(name)
        return name in space

    def _from_stars(self, name: str) -> None:
        """Takes a name from the modules of which everything is imported."""
        space = self.__dict__
        for star in space["_parsed"].binding(space["_parsed"].body, "*"):
            source = space["_world"].load(absolute(star, space["__package__"]))
            if not name.startswith("_") and hasattr(source, name):
                space[name] = getattr(source, name)

    def _run(self, body: Sequence[Statement], name: str) -> None:
        space = self.__dict__
        for statement in space["_parsed"].binding(body, name):
            if id(statement) in space["_done"]:
                continue
            code = space["_parsed"].code
            if isinstance(statement, ast.If):  # only the branch that holds, and of it what is asked
                holds = eval(code(statement.test), space)  # noqa: S307
                self._run(statement.body if holds else statement.orelse, name)
                continue
            space["_done"].add(id(statement))  # before it runs: it may ask for its own name
            with space["_world"].guarding(isinstance(statement, ast.Try | ast.With)):
                before = Unknown.raised
                try:
                    exec(code(statement), space)  # noqa: S102
                except Unknown:
                    tolerant = (
                        space["_parsed"].tolerant_code(statement)
                        if isinstance(statement, Deferred)
                        else None
                    )
                    if tolerant is None:
                        raise
                    exec(tolerant, space)  # noqa: S102
                    Unknown.raised = before  # none is lost: they stand in the class

    def __getattr__(self, name: str) -> Any:
        space = self.__dict__
        if name.startswith("__") and name not in ("__all__", "__version__"):
            raise AttributeError(name)
        if self.demand(name):
            return space[name]
        submodule = f"{self.__name__}.{name}"
        if space["_world"].tree.has_module(submodule):
            return space["_world"].load(submodule)
        if space["_parsed"] is not None and self.demand("__getattr__"):
            return space["__getattr__"](name)
        space["_world"].check_compiled(submodule)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
