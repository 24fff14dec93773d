"""Answers as they come, in a file from which a stopped probe goes on.

The first line says where they were got; each other line is one answer. A line is written whole
before the next case is counted, so that what ends the probe costs the last line at most.
"""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING, Any

from .case import Answer, BadCase, Case
from .pool import Job

if TYPE_CHECKING:
    from pathlib import Path

    from .machine import Machine


class JournalError(ValueError):
    """A journal that cannot be gone on from, and why."""


class Journal:
    """The file at `path`, made if it is not there. `answers` holds what it knew.

    Answers of `untested` are not kept: what could not be tried is tried again. Raises JournalError
    if it is of another machine, no journal, or in use; OSError if it cannot be written.
    """

    def __init__(self, path: Path, machine: Machine) -> None:
        self.answers: dict[Job, Answer] = {}
        self._file = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read(path, machine)
        except BlockingIOError:
            self._file.close()
            raise JournalError(f"{path}: another probe writes it") from None
        except BaseException:
            self._file.close()
            raise

    def _read(self, path: Path, machine: Machine) -> None:
        here = _where(machine)
        self._file.seek(0)
        whole = self._file.read()
        *lines, torn = whole.split(b"\n")
        if not lines and _line(here).startswith(torn):
            self._file.truncate(0)
            self._write(here)
            return
        for number, line in enumerate(lines or [torn], 1):
            try:
                data = json.loads(line)
                if number == 1:
                    _require_same(path, data, here)
                else:
                    job = Job(Case.parse(data["case"]), (data["distribution"], data["version"]))
                    self.answers[job] = Answer(data["outcome"], data["error"], data["message"])
            except (
                json.JSONDecodeError,
                UnicodeDecodeError,
                BadCase,
                KeyError,
                TypeError,
            ) as error:
                what = f"{path}:{number}: this is no line of a journal ({error})"
                raise JournalError(f"{what}; name another file") from None
        if torn:  # the probe was ended while it wrote this
            self._file.truncate(len(whole) - len(torn))

    def add(self, job: Job, answer: Answer) -> None:
        """Keeps an answer."""
        if answer.outcome == "untested":
            return
        distribution, version = job.provider
        self._write(
            {"distribution": distribution, "version": version, "case": job.case.key()}
            | answer._asdict()
        )

    def _write(self, data: dict[str, Any]) -> None:
        self._file.write(_line(data))
        self._file.flush()

    def close(self) -> None:
        """Writes through to the disk, and lets others write."""
        os.fsync(self._file.fileno())
        self._file.close()


def _line(data: dict[str, Any]) -> bytes:
    return json.dumps(data).encode() + b"\n"


def _where(machine: Machine) -> dict[str, Any]:
    keys = ("gpu", "capability", "driver", "cuda", "torch")
    return {"journal": "attnmatrix probe"} | {key: getattr(machine, key) for key in keys}


def _require_same(path: Path, found: Any, here: dict[str, Any]) -> None:
    if not isinstance(found, dict) or found.get("journal") != here["journal"]:
        raise JournalError(f"{path}: this is no journal of a probe; name another file")
    here = json.loads(json.dumps(here))
    for key, value in here.items():
        if found.get(key) != value:
            raise JournalError(
                f"{path}: its answers are from {key} {found.get(key)}, and this is {value}; "
                "name another file"
            )
