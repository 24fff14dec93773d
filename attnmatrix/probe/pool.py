"""Worker processes that share the cases: what ends or hangs one costs the case alone."""

from __future__ import annotations

import selectors
import tempfile
import time
from collections import Counter, deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .case import Answer, Case
from .machine import NoMachine
from .process import Process
from .words import tidy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

START_LIMIT_S = 180.0
"""Seconds in which a worker, or a library in it, has to be loaded."""

COMPILE_LIMIT_S = 900.0
START_FAILURES = 3
"""Workers, or loads of a library, that may fail one after another before the probe gives up."""


class Job(NamedTuple):
    """A case for a provider of its kernel's library: distribution and version."""

    case: Case
    provider: tuple[str, str]


class _Compile(NamedTuple):
    """Builds what the jobs of one provider need before any of them is tried."""

    provider: tuple[str, str]
    jobs: tuple[Job, ...]


class Pool:
    """Up to `size` workers at work, and `spare` more that have started and wait.

    callers: the module that calls libraries (see `worker`). device: where. limit_s: seconds a case
    may take. warn: told what went wrong beside the cases.
    """

    def __init__(
        self,
        callers: str,
        device: str,
        *,
        size: int,
        spare: int,
        limit_s: float,
        warn: Callable[[str], None],
    ) -> None:
        self._callers, self._device = callers, device
        self._size, self._spare, self._limit_s, self._warn = size, spare, limit_s, warn
        self._workers: set[Process] = set()
        self._ready: deque[Job | _Compile] = deque()
        self._selector = selectors.DefaultSelector()
        self._started = self._failed = 0
        self._unloaded: Counter[tuple[str, str]] = Counter()

    @property
    def building(self) -> list[str]:
        """The distributions whose modules are being built."""
        asked = [worker.asked for worker in self._workers]
        return [item.provider[0] for item in asked if isinstance(item, _Compile)]

    def run(self, jobs: Iterable[Job]) -> Generator[tuple[Job, Answer], None, None]:
        """Each job with its answer, in the order in which they come.

        Raises NoMachine if workers do not start. What is not yet answered when the caller stops is
        ended.
        """
        by_provider: dict[tuple[str, str], list[Job]] = {}
        for job in jobs:
            by_provider.setdefault(job.provider, []).append(job)
        self._ready.extend(_Compile(p, tuple(found)) for p, found in by_provider.items())
        with tempfile.TemporaryDirectory(prefix="attnmatrix-probe-") as folder:
            self._folder = Path(folder)
            try:
                while self._ready or any(worker.asked is not None for worker in self._workers):
                    self._fill()
                    yield from self._step()
            finally:
                for worker in list(self._workers):
                    self._retire(worker)

    def _fill(self) -> None:
        """Starts workers that are lacking, and gives work to those that have none."""
        busy = sum(worker.asked is not None for worker in self._workers)
        wanted = busy + min(len(self._ready), self._size - busy + self._spare)
        while len(self._workers) < wanted:
            self._started += 1
            log = self._folder / f"{self._started}.log"
            worker = Process(self._callers, self._device, log)
            self._workers.add(worker)
            self._selector.register(worker.pipe, selectors.EVENT_READ, worker)
        for worker in self._workers:
            if self._ready and busy < self._size and worker.ready and worker.asked is None:
                busy += 1
                asked = self._ready.popleft()
                worker.ask(asked, _request(asked))

    def _step(self) -> Iterator[tuple[Job, Answer]]:
        """Waits for news, and turns them into answers."""
        for key, _ in self._selector.select(self._patience()):
            yield from self._hear(key.data)
        now = time.monotonic()
        for worker in list(self._workers):
            waited = now - worker.since
            if worker.asked is None and worker.ready:
                if worker.ended():  # while it waited for work
                    self._retire(worker)
            elif worker.ended():
                yield from self._hear(worker)
            elif waited > self._allowed(worker):
                words = f"no answer within {self._allowed(worker):g} s"
                yield from self._lose(worker, ": ".join(filter(None, (words, worker.said()))))

    def _patience(self) -> float:
        """Seconds until a worker's time is up; at most one, so that a silent death is seen."""
        now = time.monotonic()
        waiting = (w for w in self._workers if w.asked is not None or not w.ready)
        left = [worker.since + self._allowed(worker) - now for worker in waiting]
        return max(0.0, min([1.0, *left]))

    def _allowed(self, worker: Process) -> float:
        if isinstance(worker.asked, _Compile):
            return COMPILE_LIMIT_S
        return self._limit_s if worker.begun else START_LIMIT_S

    def _hear(self, worker: Process) -> Iterator[tuple[Job, Answer]]:
        if worker not in self._workers:
            return
        messages, ended = worker.heard()
        for message in messages:
            if "ready" in message:
                worker.ready, self._failed = True, 0
            elif "begun" in message:
                worker.begin()
                self._unloaded[worker.asked.provider] = 0
            elif "failed" in message:
                yield from self._lose(worker, message["failed"])
                return
            elif "compiled" in message:
                for words in message["compiled"]:
                    self._warn(f"building for {worker.asked.provider[0]} failed: {tidy(words)}")
                yield from self._done(worker)
            else:
                yield from self._done(worker, _told(Answer(*message["answer"])))
        if worker in self._workers and (ended or (not messages and worker.ended())):
            yield from self._lose(worker, worker.ending())

    def _done(self, worker: Process, answer: Answer | None = None) -> Iterator[tuple[Job, Answer]]:
        """The worker has done what it was asked; what it computed wrong may have hurt it."""
        asked, worker.asked = worker.asked, None
        if isinstance(asked, _Compile):
            self._ready.extend(asked.jobs)
        else:
            assert answer is not None
            yield asked, answer
            if answer.outcome in ("wrong", "crashed"):
                self._retire(worker)

    def _lose(self, worker: Process, words: str) -> Iterator[tuple[Job, Answer]]:
        """The worker is of no further use; the case that it worked on is the reason."""
        if not worker.ready:
            self._failed += 1
            if self._failed >= START_FAILURES:
                raise NoMachine(f"worker processes do not start: {tidy(words)}")
        elif isinstance(worker.asked, _Compile):
            self._warn(f"building for {worker.asked.provider[0]} failed: {tidy(words)}")
            yield from self._done(worker)
        elif worker.asked is not None and worker.begun:
            yield from self._done(worker, _told(Answer("crashed", None, words)))
        elif worker.asked is not None:
            yield from self._not_loaded(worker, words)
        if worker in self._workers:
            self._retire(worker)

    def _not_loaded(self, worker: Process, words: str) -> Iterator[tuple[Job, Answer]]:
        """Loading a library ended the worker, which says nothing of the case; nor will the next."""
        provider = worker.asked.provider
        self._unloaded[provider] += 1
        told = _told(Answer("untested", None, f"the library did not load: {words}"))
        yield from self._done(worker, told)
        if self._unloaded[provider] >= START_FAILURES:
            waiting = [job for job in self._ready if job.provider == provider]
            self._ready = deque(job for job in self._ready if job.provider != provider)
            yield from ((job, told) for job in waiting if isinstance(job, Job))

    def _retire(self, worker: Process) -> None:
        self._workers.remove(worker)
        self._selector.unregister(worker.pipe)
        worker.kill()


def _request(asked: Job | _Compile) -> dict[str, Any]:
    if isinstance(asked, _Compile):
        cases = [(job.case.kernel, job.case.axes()) for job in asked.jobs]
        return {"compile": cases, "provider": asked.provider}
    return {"case": (asked.case.kernel, asked.case.axes()), "provider": asked.provider}


def _told(answer: Answer) -> Answer:
    """The answer with its words tidied; one that computed nothing says why."""
    words = tidy(answer.message) if answer.message is not None else ""
    silent = answer.outcome in ("refused", "crashed", "untested")
    return answer._replace(message=words or ("without a word" if silent else None))
