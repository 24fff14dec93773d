"""The runtime objects that a matrix describes, as the generated modules will define them.

Docs are rendered by asking these, so that a page and a verdict cannot differ.
"""

from __future__ import annotations

from typing import Any

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.intset import ANY, IntSet
from attnmatrix.kv_format import KVFormat, Part

from . import schema
from .axes import UNKNOWN
from .matrix import Matrix
from .model_schema import Engine, LanguageModel


def backend_attributes(matrix: Matrix, name: str) -> dict[str, Any]:
    """The class attributes of a generated backend, in the order in which they are written."""
    entry = matrix.document.backends[name]
    cells = [cell for cell in matrix.cells[name] if cell.refuses is None]
    refusals = tuple(cell for cell in matrix.cells[name] if cell.refuses is not None)
    attributes: dict[str, Any] = {
        "summary": entry.summary,
        "mla": None if entry.mla == "any" else entry.mla,
        "sparse": None if entry.sparse == "any" else entry.sparse,
        "supported_dtypes": tuple(entry.dtypes),
        "supported_kv_cache_dtypes": tuple(
            dict.fromkeys(key for v in entry.variants for key in v.kv_cache_dtypes)
        ),
        "supported_features": tuple(entry.features),
        "head_sizes": _head_sizes(entry),
        "kernel_block_sizes": _kernel_block_sizes(entry),
        "notes": tuple(entry.notes),
        "differs": tuple(f"{d.engine}: {d.field}: {d.reason}" for d in entry.differs),
        "sources": tuple(entry.sources),
        "cells": tuple(cells),
        "refusals": refusals,
    }
    return attributes


def _head_sizes(entry: schema.Backend) -> tuple[int, ...] | IntSet:
    """The claimed head sizes; empty for any."""
    if isinstance(entry.head_sizes, list):
        return tuple(entry.head_sizes)
    return entry.head_sizes if isinstance(entry.head_sizes, IntSet) else ()


def _kernel_block_sizes(entry: schema.Backend) -> tuple[int | MultipleOf, ...]:
    """The page where an engine cuts its blocks to a size that a user may also pick, else those."""
    found: list[int | MultipleOf] = []
    for variant in entry.variants:
        sizes = variant.block_sizes if isinstance(variant.block_sizes, IntSet) else ANY
        if variant.page_size is not None and variant.page_size in sizes:
            found.append(variant.page_size)
        else:
            found += sizes.values
            found += [MultipleOf(run.base) for run in sizes.multiples]
    return tuple(dict.fromkeys(found))


def backend_class(matrix: Matrix, name: str) -> type[Backend]:
    """The backend class of a matrix, without generating it."""
    return type(name, (Backend,), {"name": name, **backend_attributes(matrix, name)})


def kv_format(matrix: Matrix, name: str) -> KVFormat:
    """The KV format of a matrix, without generating it."""
    return KVFormat(name, **kv_format_attributes(matrix, name))


def kv_format_attributes(matrix: Matrix, name: str) -> dict[str, Any]:
    """The arguments of a generated KVFormat, in the order in which they are written."""
    entry = matrix.document.kv_formats[name]
    return {
        "title": entry.title,
        "head_size": entry.head_size,
        "bytes_per_token": entry.bytes_per_token,
        "data": tuple(_part(part) for part in entry.data),
        "scales": tuple(_part(part) for part in entry.scales),
        "arrangement": entry.page.arrangement,
        "round_up_to": entry.page.round_up_to,
        "notes": tuple(entry.notes),
        "sources": tuple(entry.sources),
    }


def _part(part: schema.Part) -> Part:
    return Part(
        part.part,
        part.dtype,
        part.count,
        scaled_by=part.scaled_by,
        group=part.group,
        transposed=None if part.transposed is None else (part.transposed[0], part.transposed[1]),
        amax_floor=None if part.amax_floor is None else float(part.amax_floor),
        power_of_two=part.power_of_two,
    )


def model_entry(entry: LanguageModel) -> dict[str, Any]:
    """What a generated Model is made from, under the names of its attributes."""
    attributes = dict(entry)
    attributes["topk"] = None if entry.topk == "none" else entry.topk
    attributes["max_context"] = None if entry.max_context == UNKNOWN else entry.max_context
    attributes["kv_pools"] = tuple(
        {k: v for k, v in dict(pool).items() if v != type(pool).model_fields[k].default}
        for pool in entry.kv_pools
    )
    for name in ("aliases", "backends", "notes", "sources"):
        attributes[name] = tuple(attributes[name] or ())
    return attributes


def engine_entry(entry: Engine) -> dict[str, Any]:
    """How a choice is typed for an engine: the flags that there are, by the part of the choice."""
    flags = {name: flag for name, flag in dict(entry.flags).items() if flag is not None}
    return {**dict(entry), "flags": flags}
