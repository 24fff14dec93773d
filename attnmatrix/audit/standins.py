"""What foreign code meets in place of libraries that are not here: objects that know nothing.

A stand-in may be called, subscripted, inherited from and passed on. The moment a decision would
rest on one, such as an `if` or a comparison, `Unknown` is raised: the answer is null, not a guess.
"""

from __future__ import annotations

import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


class Unknown(BaseException):  # no Exception: foreign `except Exception` must not turn it into one
    """The answer depends on something that the files of a release do not show; says what.

    raised: how many there were so far. An answer that came in spite of one rests on a guess: some
    bare `except` has swallowed it.
    """

    raised = 0

    def __init__(self, what: str) -> None:
        super().__init__(what)
        Unknown.raised += 1


class UnknownBase:
    """Stands in a class's bases for one that is not here."""


class StandIn:
    """An object of a library that is not here; `name` is its dotted path."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        found = StandIn(f"{self._name}.{name}")
        self.__dict__[name] = found
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A further stand-in; a decorator gives back what it decorates."""
        if len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType | type):
            return args[0]
        return StandIn(f"{self._name}()")

    def __getitem__(self, key: Any) -> StandIn:
        return StandIn(f"{self._name}[]")

    def __setitem__(self, key: Any, value: Any) -> None: ...

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        others = [base for base in bases if isinstance(base, type)]
        first = next(base for base in bases if isinstance(base, StandIn))
        if first is not self or any(issubclass(base, UnknownBase) for base in others):
            return ()
        return (UnknownBase,)

    def __instancecheck__(self, instance: Any) -> bool:
        if isinstance(instance, StandIn | UnknownBase):
            self._refuse()
        return False

    def __subclasscheck__(self, subclass: Any) -> bool:
        if isinstance(subclass, StandIn) or issubclass(subclass, UnknownBase):
            self._refuse()
        return False

    def __enter__(self) -> StandIn:
        return self

    def __exit__(self, *args: object) -> None: ...

    def __repr__(self) -> str:
        return f"<{self._name}, unknown>"

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if other is None or isinstance(other, type):  # no object of a library equals these
            return False
        raise Unknown(self._name)

    def _refuse(self, *_: object) -> NoReturn:
        raise Unknown(self._name)

    def _operate(self, *_: object) -> StandIn:
        return StandIn(f"{self._name} of an operator")

    __bool__ = __int__ = __index__ = __float__ = __len__ = __iter__ = __contains__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _operate
    __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = _operate
    __or__ = __ror__ = __and__ = __rand__ = __neg__ = __invert__ = __lshift__ = _operate


class Dtype:
    """A dtype of torch: known by its name, equal to itself alone."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unknown(f"torch.{self.name}.{name}")

    def __or__(self, other: Any) -> StandIn:
        return StandIn("a union of types")

    __ror__ = __or__


DTYPES = {
    name: Dtype(name)
    for name in (
        *("float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64"),
        *("bool", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
        *("float8_e8m0fnu", "float4_e2m1fn_x2", "complex64", "uint16", "uint32", "uint64"),
    )
}
"""The dtypes of torch, by name."""

_DTYPE_ALIASES = {"half": "float16", "float": "float32", "double": "float64"}
_DTYPE_ALIASES |= {"int": "int32", "long": "int64", "short": "int16"}


def torch_module() -> StandIn:
    """A torch that knows its dtypes and nothing else."""
    torch = StandIn("torch")
    attributes: dict[str, Any] = dict(DTYPES)
    attributes |= {alias: DTYPES[name] for alias, name in _DTYPE_ALIASES.items()}
    torch.__dict__.update(attributes)
    return torch
