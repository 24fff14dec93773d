"""What is known of each kernel's call: what it can be told, and how its inputs have to be made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..axes import OF_INDICES

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from ..case import Case
    from .inputs import Problem

CALL_HAS_NO = "the library's call has no argument for"


class NotExpressible(Exception):
    """A case that the library's call cannot be told, in words."""


class Unavailable(Exception):
    """A library that cannot be used here, and why: that says nothing of its kernels."""


class Needs(NamedTuple):
    """What a kernel asks of its inputs.

    batch: sequences. masks: whether -1 may stand anywhere among the indices. scales: whether the
    call takes the scale of an e4m3 cache. shortest: the least top-k length. window: how many
    indices select from the main pool where there is an extra one, whose indices follow in the same
    table.
    """

    batch: int = 3
    masks: bool = True
    scales: bool = False
    shortest: int = 1
    window: int | None = None


class Result(NamedTuple):
    """What a kernel returned.

    out: [batch, q_len, query_heads, value_size]. lse: float32 [batch, query_heads, q_len], natural,
    or None if the call returns none; lse_has_sink: whether the sink is part of it.
    """

    out: Tensor
    lse: Tensor | None = None
    lse_has_sink: bool = False


class Caller(NamedTuple):
    """How one kernel is called, below its adapter.

    load: the library of a provider, by its distribution's name; raises Unavailable. call: of the
    library and a problem; raises NotExpressible, or what the library raises. takes: features that
    the call has an argument for. sparse, dense: whether it goes with indices, and without.
    """

    load: Callable[[str], Any]
    call: Callable[[Any, Problem], Result]
    takes: frozenset[str]
    needs: Needs = Needs()
    sparse: bool = False
    dense: bool = False


_IN_WORDS = {
    "attention_sink": "an attention sink",
    "topk_length": "top-k lengths",
    "extra_kv_pool": "an extra KV pool",
    "causal": "a causal mask",
    "strided_pages": "pages apart",
    "lse": "the LSE",
}


def require_expressible(caller: Caller, case: Case) -> None:
    """Refuse a case that has what the call cannot be told. Raises NotExpressible."""
    if case.topk is None and not caller.dense:
        raise NotExpressible("the library's call wants indices")
    features = list(case.features)
    if case.extra_kv_format is not None and "extra_kv_pool" not in features:
        features.append("extra_kv_pool")
    missing = [_IN_WORDS[name] for name in features if name not in caller.takes]
    if case.topk is not None and not caller.sparse:
        missing.insert(0, "indices")
    elif case.topk is not None and "causal" in features and "causal" in caller.takes:
        missing.append("a causal mask beside indices")
    elif case.topk is None:
        missing += [_IN_WORDS[name] for name in features if name in OF_INDICES]
    if missing:
        raise NotExpressible(f"{CALL_HAS_NO} {', '.join(dict.fromkeys(missing))}")
