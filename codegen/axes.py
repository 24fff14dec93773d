"""The forms that an axis of a row takes in YAML, and what each becomes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from attnmatrix.capability import DEVICES, CapabilityPattern
from attnmatrix.intset import ANY, NONE, IntSet, Multiples
from attnmatrix.request import FEATURES
from attnmatrix.spelling import did_you_mean
from attnmatrix.versions import Specifier

from .gpus import points

DTYPES = ("float16", "bfloat16", "float32", "float8_e4m3fn")
"""Query dtypes that rows and backends name."""

UNKNOWN = "unknown"

_INT_FORMS = "any, unknown, a list such as [64, 128], or {multiple_of: 64, min: 64, max: 2048}"


def invalid(message: str, hint: str = "") -> PydanticCustomError:
    """A pydantic error that carries our message and hint unchanged."""
    return PydanticCustomError("invalid_value", "{message}", {"message": message, "hint": hint})


def int_axis(value: Any) -> IntSet | str:
    """any, none, unknown, positive integers, or multiples within bounds."""
    if value == "any":
        return ANY
    if value == "none":
        return NONE
    if value == UNKNOWN:
        return UNKNOWN
    items = value if isinstance(value, list) else [value]
    if not items:
        raise invalid("an empty list accepts nothing", f"write {_INT_FORMS}")
    values: list[int] = []
    runs: list[Multiples] = []
    for item in items:
        if type(item) is int and item > 0:
            values.append(item)
        elif isinstance(item, dict) and item and set(item) <= {"multiple_of", "min", "max"}:
            numbers = list(item.values())
            if not all(type(number) is int and number > 0 for number in numbers):
                raise invalid(f"{item!r}: every bound is a positive integer")
            run = Multiples(item.get("multiple_of", 1), item.get("min", 1), item.get("max"))
            if run.empty:
                raise invalid(f"{item!r} holds no number")
            runs.append(run)
        else:
            raise invalid(f"{item!r} is not a form of this axis", f"write {_INT_FORMS}")
    if len(set(values)) < len(values):
        raise invalid(f"a number stands twice in {values}")
    return IntSet(values, runs)


def _names_axis(known: tuple[str, ...] | None, *words: str) -> Any:
    def read(value: Any) -> tuple[str, ...] | str:
        if value in words:
            return str(value)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise invalid(f"{value!r} is neither a list of names nor {' nor '.join(words)}")
        if not value:
            raise invalid("an empty list accepts nothing", "name what is accepted")
        once(value)
        for item in value:
            if known is not None and item not in known:
                raise invalid(
                    f"{item!r} is not one of {', '.join(known)}{did_you_mean(item, known)}"
                )
        return tuple(value)

    return read


def once(items: list[Any]) -> None:
    """Refuses a list in which something stands twice."""
    for item in items:
        if items.count(item) > 1:
            raise invalid(f"{item!r} stands twice", "leave one out")


class Features:
    """Features that a row supports, and those that nobody has tried."""

    __slots__ = ("known", "unknown")

    def __init__(self, known: tuple[str, ...], unknown: tuple[str, ...] = ()) -> None:
        self.known = known
        self.unknown = unknown


def _features_axis(value: Any) -> Features:
    if value == UNKNOWN:
        return Features((), tuple(FEATURES))
    if not isinstance(value, list):
        raise invalid(f"{value!r} is neither a list of features nor unknown")
    known, unknown = [], []
    for item in value:
        name = item
        if isinstance(item, dict) and list(item.values()) == [UNKNOWN]:
            (name,) = item
            unknown.append(name)
        else:
            known.append(item)
        if not isinstance(name, str) or name not in FEATURES:
            hint = did_you_mean(str(name), FEATURES)
            raise invalid(f"{name!r} is not a feature: {', '.join(FEATURES)}{hint}")
    once(known + unknown)
    return Features(tuple(known), tuple(unknown))


def _patterns(value: Any) -> tuple[CapabilityPattern, ...]:
    items = [value] if isinstance(value, str) and value in ("any", *DEVICES) else value
    if not isinstance(items, list) or not items:
        raise invalid(f"{value!r} is not a list of compute capabilities", 'such as ["9.0", "10.x"]')
    for item in items:
        if not isinstance(item, str):
            raise invalid(f"{item!r} is not a quoted compute capability", f'write "{item}"')
    once(items)
    try:
        patterns = tuple(CapabilityPattern(item) for item in items)
    except ValueError as error:
        raise invalid(str(error)) from None
    for item in items:
        if not points(item):
            raise invalid(f"no GPU satisfies {item!r}")
    return patterns


def _versions(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise invalid(f"{value!r} is not a mapping from distributions to versions")
    for name, text in value.items():
        if text in ("any", "none", UNKNOWN):
            continue
        try:
            Specifier(text)
        except (ValueError, TypeError, AttributeError) as error:
            raise invalid(
                f"{name}: {text!r} is not a version specifier ({error})"
                if not isinstance(error, ValueError)
                else f"{name}: {error}",
                'write a quoted specifier such as ">=0.24", or any, none (not in it) or unknown',
            ) from None
    return dict(value)


BOUNDED_FORM = {
    "type": "object",
    "additionalProperties": False,
    "minProperties": 1,
    "properties": {
        "multiple_of": {"type": "integer", "minimum": 1, "description": "1 unless given."},
        "min": {"type": "integer", "minimum": 1, "description": "The least, itself included."},
        "max": {"type": "integer", "minimum": 1, "description": "The most, itself included."},
    },
}
_NUMBER = {"anyOf": [{"type": "integer", "minimum": 1}, BOUNDED_FORM]}


def _words(*words: str) -> dict[str, Any]:
    return {"enum": list(words)}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": 1, "uniqueItems": True}


def _axis_schema(items: dict[str, Any], *words: str) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [_words(*words), _list(items)]})


NUMBERS_FORM = _list(_NUMBER)
INT_FORMS = [_words("any", "none", UNKNOWN), BOUNDED_FORM, NUMBERS_FORM]
"""What an axis of integers takes, as JSON Schema."""

IntAxis = Annotated[
    IntSet | str,
    BeforeValidator(int_axis),
    WithJsonSchema({"anyOf": INT_FORMS}),
]
DtypeAxis = Annotated[
    tuple[str, ...] | str,
    BeforeValidator(_names_axis(DTYPES, "any", UNKNOWN)),
    _axis_schema({"enum": list(DTYPES)}, "any", UNKNOWN),
]
NameAxis = Annotated[
    tuple[str, ...] | str,
    BeforeValidator(_names_axis(None, "any")),
    _axis_schema({"type": "string"}, "any"),
]
FeatureAxis = Annotated[
    Features,
    BeforeValidator(_features_axis),
    WithJsonSchema(
        {
            "anyOf": [
                _words(UNKNOWN),
                {
                    "type": "array",
                    "items": {
                        "anyOf": [
                            {"enum": list(FEATURES)},
                            {
                                "type": "object",
                                "propertyNames": {"enum": list(FEATURES)},
                                "additionalProperties": {"const": UNKNOWN},
                                "minProperties": 1,
                                "maxProperties": 1,
                            },
                        ]
                    },
                },
            ]
        }
    ),
]
CapabilityAxis = Annotated[
    tuple[CapabilityPattern, ...],
    BeforeValidator(_patterns),
    _axis_schema({"type": "string"}, "any", *DEVICES),
]
VersionAxis = Annotated[
    dict[str, str],
    BeforeValidator(_versions),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": "string"}}),
]
