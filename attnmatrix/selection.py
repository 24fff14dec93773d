"""Which backend takes a request: judge one, explain several, select the first by priority."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module

from .backend import Backend
from .capability import Capability, CapabilityPattern, matches_any
from .intset import IntSet
from .libraries import BUILT_IN
from .registry import backend_names, get_backend
from .request import Request, asked
from .verdict import Verdict
from .verdict import judge as _judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def judge(backend: str | type[Backend], request: Request | None = None, **fields: Any) -> Verdict:
    """The verdict on a Request (or on the fields of one) for one backend.

    Raises UnknownName for a backend that the matrix does not hold, RequestError for an unreadable
    request.
    """
    if isinstance(backend, str):
        backend = get_backend(backend, fields.get("matrix", BUILT_IN))
    return backend.judge(request, **fields)


def explain(
    backends: Iterable[str | type[Backend]] | None = None,
    request: Request | None = None,
    *,
    matrix: str = BUILT_IN,
    **fields: Any,
) -> list[Verdict]:
    """The verdicts of the named backends (None: of all, by name), each with every reason."""
    wanted = asked(request, {"matrix": matrix, **fields} if fields or request is None else fields)
    if backends is None:
        backends = backend_names(matrix)
    elif isinstance(backends, str):
        backends = [backends]
    found = [get_backend(b, matrix) if isinstance(b, str) else b for b in backends]
    return [_judge(backend, wanted) for backend in found]


class Rule:
    """One priority: `order`, for the requests that `when` does not contradict."""

    __slots__ = ("order", "patterns", "when", "_tests", "_backends")

    def __init__(self, *, when: dict[str, Any], order: Iterable[str]) -> None:
        self.when = when
        self.order = tuple(order)
        self.patterns = [CapabilityPattern(text) for text in when.get("compute_capability", ())]
        self._tests = tuple(
            (field, wanted.__contains__ if isinstance(wanted, tuple | IntSet) else wanted.__eq__)
            for field, wanted in when.items()
            if field != "compute_capability"
        )
        self._backends: tuple[type[Backend], ...] | None = None

    def fits(self, request: Request) -> bool | None:
        """Whether a request on a GPU of this rule meets the other fields of `when`.

        True: all are named and right; None: some are not named; False: one is contradicted.
        """
        answer: bool | None = True
        for field, test in self._tests:
            value = getattr(request, field)
            if value is None:
                answer = None
            elif not test(value):
                return False
        return answer

    def backends(self, matrix: str = BUILT_IN) -> tuple[type[Backend], ...]:
        """The classes of `order`, loaded at first use."""
        if self._backends is None:
            self._backends = tuple(get_backend(name, matrix) for name in self.order)
        return self._backends


@lru_cache(maxsize=512)
def _rules_for(capability: Capability | None, matrix: str) -> tuple[tuple[Rule, bool], ...]:
    """The priorities that a GPU does not contradict, and whether it is named where they ask."""
    return tuple(
        (rule, capability is not None or not rule.patterns)
        for rule in import_module(f"{matrix}.priorities").PRIORITIES
        if capability is None or not rule.patterns or matches_any(rule.patterns, capability)
    )


class Selection:
    """What `select` found: `selected` (a backend class or None) and every candidate's verdict."""

    __slots__ = ("_matrix", "candidates", "request", "selected")

    def __init__(
        self,
        selected: type[Backend] | None,
        candidates: tuple[Verdict, ...],
        request: Request,
        matrix: str,
    ) -> None:
        self.selected = selected
        self.candidates = candidates
        self.request = request
        self._matrix = matrix

    @property
    def unranked(self) -> tuple[type[Backend], ...]:
        """Backends that would take the request, but that its priority does not list."""
        ranked = {verdict.backend for verdict in self.candidates}
        names = _own_backends(self.request, self._matrix) or backend_names(self._matrix)
        others = (get_backend(name, self._matrix) for name in names)
        return tuple(b for b in others if b not in ranked and _judge(b, self.request))

    def to_json(self) -> dict[str, Any]:
        """`candidates` in priority order, `selected`: a name or null, and `unranked`: names."""
        return {
            "selected": self.selected.name if self.selected else None,
            "candidates": [verdict.to_json() for verdict in self.candidates],
            "unranked": [backend.name for backend in self.unranked],
        }

    def __repr__(self) -> str:
        return f"<Selection {self.selected.name if self.selected else None}>"


def select(request: Request | None = None, *, matrix: str = BUILT_IN, **fields: Any) -> Selection:
    """The first supported backend by priority, and why each before it was passed over.

    The first priority whose conditions the request names and meets decides the order; failing that
    the first that the request does not contradict; failing that all backends by name. Every
    candidate is judged: those behind the selected one show what else would run.
    """
    wanted = asked(request, {"matrix": matrix, **fields} if fields or request is None else fields)
    candidates = tuple([_judge(b, wanted) for b in candidate_backends(wanted, matrix)])
    for verdict in candidates:
        if verdict.status == "supported":
            return Selection(verdict.backend, candidates, wanted, matrix)
    return Selection(None, candidates, wanted, matrix)


def candidate_backends(request: Request, matrix: str = BUILT_IN) -> tuple[type[Backend], ...]:
    """The backends that `select` tries, in order; of a model that has its own, those alone."""
    ranked = _by_priority(request, matrix)
    own = _own_backends(request, matrix)
    return tuple([b for b in ranked if b.name in own]) if own else ranked


def _own_backends(request: Request, matrix: str) -> tuple[str, ...]:
    """The backends that an engine picks among for the request's model; empty: no such list."""
    if request.model is None:
        return ()
    from .models import get_model

    return get_model(request.model, matrix).backends


def _by_priority(request: Request, matrix: str) -> tuple[type[Backend], ...]:
    possible: Rule | None = None
    for rule, named in _rules_for(request.compute_capability, matrix):
        fits = rule.fits(request)
        if fits and named:
            return rule.backends(matrix)
        if fits is not False and possible is None:
            possible = rule
    if possible is not None:
        return possible.backends(matrix)
    return tuple(get_backend(name, matrix) for name in backend_names(matrix))
