"""The grammar of models and engines: what a model asks of a backend, and how a choice is typed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from .axes import DTYPES, UNKNOWN, invalid
from .scalars import Count, Line, Model, Name, Notes, Sources, Unique


def _count_or(word: str) -> BeforeValidator:
    """A positive integer, or one word."""

    def read(value: Any) -> Any:
        if value == word or (type(value) is int and value > 0):
            return value
        raise invalid(f"{value!r} is neither a positive integer nor {word}")

    return BeforeValidator(read)


def _count_schema(word: str) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": word}]})


def _flag_text(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("--") and len(value.split()) == 1:
        return value
    raise invalid(f"{value!r} is not a flag", "such as --dtype")


Flag = Annotated[str, BeforeValidator(_flag_text), WithJsonSchema({"type": "string"})]
TopK = Annotated[int | str, _count_or("none"), _count_schema("none")]
MaxContext = Annotated[int | str, _count_or(UNKNOWN), _count_schema(UNKNOWN)]


class Pool(Model):
    """Layers that keep their KV cache alike."""

    layers: Count = Field(description="Layers with such a cache of their own.")
    window: Count | None = Field(
        None, description="Tokens that it keeps, the last ones; all of them unless given."
    )
    tokens_per_record: Count = Field(1, description="Consecutive tokens that share one record.")
    extra: bool = Field(
        False, description="Held as the extra pool, whose KV format may differ from the main one."
    )


class LanguageModel(Model):
    """What a model asks of a backend. Every axis is written; unknown is a value."""

    hub: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")] = Field(
        description="owner/name on its hub, as an engine is told it."
    )
    aliases: Annotated[list[Name], Unique] = Field(
        [], description="Other names, of models that are alike in everything here."
    )
    dtype: Literal[DTYPES] = Field(  # type: ignore[valid-type]
        description="The dtype that it is run in."
    )
    mla: bool = Field(description="Multi-head latent attention.")
    sparse: bool = Field(description="Attention to top-k selected tokens.")
    sink: bool = Field(description="Whether it has an attention sink.")
    head_size: Count = Field(description="Elements of a query head as the kernel sees it.")
    value_size: Count = Field(description="Elements of an output head as the kernel gives it.")
    query_heads: Count = Field(description="Query heads of the whole model.")
    topk: TopK = Field(description="Indices a query selects; none for dense attention.")
    max_context: MaxContext = Field(description="Tokens that it was made for.")
    backends: Annotated[list[Name], Unique] | None = Field(
        None,
        min_length=1,
        description="The only backends that an engine picks among for it, where it picks by model.",
    )
    kv_pools: list[Pool] = Field(min_length=1, description="What its layers keep.")
    notes: Notes = []
    sources: Sources


class Flags(Model):
    """The flag of each part of a choice; one that is left out cannot be typed."""

    backend: Flag | None = Field(None, description="The attention backend.")
    dtype: Flag | None = Field(None, description="The model's dtype.")
    kv_cache_dtype: Flag | None = Field(None, description="The KV-cache dtype.")
    block_size: Flag | None = Field(None, description="Tokens a block.")
    tensor_parallel: Flag | None = Field(None, description="GPUs that share the heads.")


class Engine(Model):
    """How a choice is typed for an engine."""

    title: Line = Field(description="Its name in prose.")
    command: Line = Field(description="What the model's name and the flags follow.")
    flags: Flags
    lacks: Annotated[list[Name], Unique] = Field(
        [], description="Backends of this matrix that are none of the engine's."
    )
    sources: Sources
