"""Cross-checks of models and engines: their names, and that a model's own backends can serve it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attnmatrix.backend import Backend
from attnmatrix.models import fold
from attnmatrix.request import Request
from attnmatrix.spelling import did_you_mean
from attnmatrix.verdict import judge

from .matrix import Matrix
from .model_schema import LanguageModel
from .problems import Problem
from .source import Path_


def models_lead_somewhere(matrix: Matrix) -> Iterator[Problem]:
    """Backends that models and engines name must exist; no two models answer to one name."""
    document = matrix.document
    for name, engine in document.engines.items():
        yield from _backends(matrix, engine.lacks, ("engines", name, "lacks"))
    seen: dict[str, str] = {}
    for name, model in document.models.items():
        path: Path_ = ("models", name)
        yield from _backends(matrix, model.backends or (), (*path, "backends"))
        given: list[tuple[str, Path_]] = [(name, path)]
        given += [(alias, (*path, "aliases", i)) for i, alias in enumerate(model.aliases)]
        if fold(model.hub) not in {fold(own) for own, _ in given}:
            given.append((model.hub, (*path, "hub")))
        for spelling, where in given:
            if fold(spelling) in seen:
                message = f"{spelling!r} and {seen[fold(spelling)]!r} are read as one model name"
                place = matrix.source.place(where, key=where == path)
                yield Problem(place, "duplicate-name", message, "take one out")
            seen.setdefault(fold(spelling), spelling)


def _backends(matrix: Matrix, names: Iterable[str], path: Path_) -> Iterator[Problem]:
    known = matrix.document.backends
    for i, name in enumerate(names):
        if name not in known:
            message = f"there is no backend {name!r}{did_you_mean(name, known)}"
            place = matrix.source.place((*path, i))
            yield Problem(place, "unknown-name", message, f"known: {', '.join(known)}")


def models_agree(matrix: Matrix) -> Iterator[Problem]:
    """What a model says must go together, and each backend that it names must take it."""
    for name, model in matrix.document.models.items():
        path: Path_ = ("models", name)
        if model.sparse == (model.topk == "none"):
            word = "sparse" if model.sparse else "dense"
            message = f"{word} attention, but topk is {model.topk}"
            hint = "sparse attention selects top-k indices, dense attention none"
            yield Problem(matrix.source.place((*path, "topk")), "invalid-value", message, hint)
            continue
        if model.value_size > model.head_size:
            message = f"{model.value_size} elements of a value, of {model.head_size} in the cache"
            place = matrix.source.place((*path, "value_size"))
            yield Problem(place, "invalid-value", message, "values are a part of the cached row")
        for i, pool in enumerate(model.kv_pools):
            if pool.window is not None and pool.tokens_per_record > 1:
                message = "a window of tokens whose records hold several tokens"
                place = matrix.source.place((*path, "kv_pools", i))
                yield Problem(place, "invalid-value", message, "write two pools")
        for i, backend in enumerate(model.backends or ()):
            if backend not in matrix.document.backends:
                continue
            verdict = judge(_as_class(matrix, backend), _request(model))
            if verdict.status == "unsupported":
                reasons = "; ".join(reason.message for reason in verdict.reasons)
                message = f"{backend} does not take {name}: {reasons}"
                place = matrix.source.place((*path, "backends", i))
                hint = "take the backend out, or correct the model or the backend"
                yield Problem(place, "model-refused", message, hint)


def _as_class(matrix: Matrix, name: str) -> type[Backend]:
    from .runtime import backend_class

    return backend_class(matrix, name)


def _request(model: LanguageModel) -> Request:
    return Request(
        dtype=model.dtype,
        head_size=model.head_size,
        topk=None if model.topk == "none" else int(model.topk),
        mla=model.mla,
        sparse=model.sparse,
        sink=model.sink,
    )
