"""Models by the names that people type, and what a request for one asks.

>>> from attnmatrix import get_model
>>> get_model("deepseek-ai/DeepSeek-R1").head_size
576
"""

from __future__ import annotations

import re
from importlib import import_module

from .errors import RequestError
from .libraries import BUILT_IN
from .sentences import sentence
from .spelling import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class KVPool:
    """`layers` that keep a KV cache alike. A record holds `tokens_per_record` tokens; `window`:
    the last tokens that are kept, or None for all; `extra`: held as the extra pool."""

    __slots__ = ("layers", "window", "tokens_per_record", "extra")

    def __init__(
        self,
        layers: int,
        window: int | None = None,
        tokens_per_record: int = 1,
        extra: bool = False,
    ) -> None:
        self.layers = layers
        self.window = window
        self.tokens_per_record = tokens_per_record
        self.extra = extra

    def records(self, context: int) -> int:
        """Records of one sequence of `context` tokens, over all of its layers."""
        tokens = context if self.window is None else min(context, self.window)
        return self.layers * (tokens // self.tokens_per_record)


class Model:
    """What a model asks of a backend.

    hub: owner/name as an engine is told it. head_size, value_size: elements of a head as the kernel
    sees it. query_heads: of the whole model. topk: indices a query selects, or None for dense
    attention. max_context: tokens, or None where nobody has established it. backends: the only ones
    that an engine picks among for it; empty where it goes by the priorities.
    """

    __slots__ = (
        "name",
        "aliases",
        "hub",
        "dtype",
        "mla",
        "sparse",
        "sink",
        "head_size",
        "value_size",
        "query_heads",
        "topk",
        "max_context",
        "backends",
        "kv_pools",
        "notes",
        "sources",
    )

    name: str
    aliases: tuple[str, ...]
    hub: str
    dtype: str
    mla: bool
    sparse: bool
    sink: bool
    head_size: int
    value_size: int
    query_heads: int
    topk: int | None
    max_context: int | None
    backends: tuple[str, ...]
    kv_pools: tuple[KVPool, ...]
    notes: tuple[str, ...]
    sources: tuple[str, ...]

    def __init__(self, name: str, entry: dict[str, Any]) -> None:
        self.name = name
        for key, value in entry.items():
            setattr(self, key, value)
        self.kv_pools = tuple(KVPool(**pool) for pool in entry["kv_pools"])

    def heads_per_gpu(self, tensor_parallel: int) -> int:
        """Query heads on one of the GPUs that share them. Raises RequestError if unequal."""
        if type(tensor_parallel) is not int or tensor_parallel < 1:
            message = sentence("not_whole", value=repr(tensor_parallel))
            raise RequestError("tensor_parallel", message)
        if self.query_heads % tensor_parallel:
            fits = [n for n in range(1, self.query_heads + 1) if self.query_heads % n == 0]
            raise RequestError(
                "tensor_parallel",
                sentence(
                    "unequal",
                    gpus=tensor_parallel,
                    heads=self.query_heads,
                    model=self.name,
                    known=", ".join(map(str, fits)),
                ),
            )
        return self.query_heads // tensor_parallel

    def kv_cache_bytes(
        self, context: int, bytes_per_token: int, extra_bytes_per_token: int | None = None
    ) -> int:
        """Bytes of KV cache on each GPU for one sequence of `context` tokens.

        Latent attention has one KV head, which every GPU keeps whole. Extra pools take records of
        `extra_bytes_per_token`, or as the main cache's. Left out: the rounding to pages and blocks,
        an indexer's keys, states of compressors and linear attention, draft layers.
        """
        extra = bytes_per_token if extra_bytes_per_token is None else extra_bytes_per_token
        return sum(
            pool.records(context) * (extra if pool.extra else bytes_per_token)
            for pool in self.kv_pools
        )

    def __repr__(self) -> str:
        return f"<Model {self.name}>"


def fold(name: str) -> str:
    """A model's name without what does not matter: case, the owner, spaces, hyphens."""
    return re.sub(r"[\s_-]+", "", name.rpartition("/")[2]).casefold()


def model_names(matrix: str = BUILT_IN) -> tuple[str, ...]:
    """Every model of the matrix, in its order."""
    return tuple(_models(matrix))


def _models(matrix: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = import_module(f"{matrix}.models").MODELS
    return found


def get_model(name: str, matrix: str = BUILT_IN) -> Model:
    """A model by its name, an alias, or its name on its hub; case and hyphens do not matter.

    Raises RequestError for an unknown name, with those that are known.
    """
    if not isinstance(name, str):
        raise RequestError("model", f"{name!r} is not a name, such as 'DeepSeek-V3'")
    models = _models(matrix)
    spelled: dict[str, str] = {}
    for key, entry in models.items():
        for known in (key, *entry["aliases"], entry["hub"]):
            spelled.setdefault(fold(known), key)
    found = spelled.get(fold(name))
    if found is None:
        known_names = [n for key, entry in models.items() for n in (key, *entry["aliases"])]
        raise RequestError(
            "model",
            sentence("not_in_matrix", value=repr(name), hint=did_you_mean(name, known_names))
            + f"; known: {', '.join(known_names) or 'none'}; for another, name what it asks",
        )
    return Model(found, models[found])
