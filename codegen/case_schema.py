"""The YAML grammar of cases: what a probe tries, named by some of its axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from attnmatrix.versions import parse_release

from .axes import CapabilityAxis, DtypeAxis, IntAxis, NameAxis, VersionAxis, invalid
from .scalars import Line, Model, Name, Sources, Text, Unique, established

ExceptedInts = Annotated[IntAxis, AfterValidator(established)]


class Cases(Model):
    """Cases of a kernel, claimed or not. An axis left out is any."""

    compute_capability: CapabilityAxis | None = Field(None, description="GPUs.")
    versions: VersionAxis | None = Field(
        None, description="Versions by distribution; one that is not named is left out."
    )
    kv_formats: NameAxis | None = Field(None, description="Formats of the main cache.")
    extra_kv_formats: NameAxis | None = Field(None, description="Formats of the extra pool.")
    dtypes: Annotated[DtypeAxis | None, AfterValidator(established)] = Field(
        None, description="Query dtypes."
    )
    head_sizes: ExceptedInts | None = Field(None, description="Elements a query head.")
    query_heads: ExceptedInts | None = Field(None, description="Query heads of the call.")
    page_sizes: ExceptedInts | None = Field(None, description="Tokens a page.")
    topk: ExceptedInts | None = Field(None, description="Indices a query selects.")
    features: Annotated[list[str], Field(min_length=1), Unique] | None = Field(
        None, description="Features: a call falls under it that uses one."
    )

    @property
    def axes(self) -> dict[str, Any]:
        """The axes that are named."""
        values = {axis: getattr(self, axis) for axis in Cases.model_fields}
        return {axis: value for axis, value in values.items() if value is not None}

    @property
    def where(self) -> str:
        """The same in words."""
        return "; ".join(f"{axis} {_named(value)}" for axis, value in self.axes.items())


def _named(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {text}" for name, text in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(getattr(item, "text", None) or str(item) for item in value)
    return str(value)


class KernelException(Cases):
    """What comes out right, but is left unclaimed on purpose."""

    reason: Text = Field(description="Why it is not claimed.")
    sources: Sources


def _release(text: str) -> str:
    try:
        parse_release(text)
    except ValueError as error:
        raise invalid(str(error)) from None
    return text


class Declared(Cases):
    """What an engine declares of cases of a kernel, for probe records to be held against. Records
    with the engine's own library count, and those with a distribution that `versions` names."""

    kernel: Name = Field(description="A kernel that the backend calls.")
    runs: bool = Field(description="Whether the engine says that the cases run.")
    sources: Sources


class Difference(Model):
    """Where this matrix differs from an engine's declaration on purpose."""

    engine: Annotated[Line, AfterValidator(_release)] = Field(
        description="Distribution and versions, such as vllm==0.33.0."
    )
    field: Line = Field(description="The field that differs.")
    reason: Text = Field(description="Why the matrix is right.")
    declares: list[Declared] = Field(
        [], description="What the engine says there, as a probe would try it."
    )
