"""Evidence files: what the probe saw on one GPU with one version of one library.

A file is JSON, one record a line, sorted, so that two probes of one machine differ in what they saw
alone. Standard library alone: the probe writes it, the generator holds it against the matrix.
"""

from __future__ import annotations

import json
import re
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .capability import Capability, parse_capability
from .rows import Call
from .standings import RowIndex, excepted
from .whole import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

OUTCOMES = ("right", "refused", "wrong", "crashed", "untested")
"""right: as the float64 reference has it; refused: the library raised; wrong: it answered otherwise
than the reference; crashed: it ended or hung the process; untested: it could not be tried."""

AXES = Call._fields[2:]
"""The axes of a record's case, in the order in which they are written."""

HEADER = (
    "gpu",
    "compute_capability",
    "driver",
    "cuda",
    "torch",
    "library",
    "provider",
    "command",
    "date",
    "attnmatrix",
)
"""The keys of a file before its records, in their order."""


class Record(NamedTuple):
    """One case and its outcome.

    case: every one of AXES. claimed: whether the rows took it when it was probed. error: relative
    Frobenius error against float64, or None. message: the library's words, or why it is untested.
    """

    kernel: str
    case: dict[str, Any]
    outcome: str
    claimed: bool
    error: float | None = None
    message: str | None = None


class Evidence(NamedTuple):
    """One file: where the probe ran, and its records.

    gpu: its name in the matrix; compute_capability: such as '9.0'; provider: the distribution that
    shipped the library, and its version; driver, cuda, torch: versions; command: what repeats it;
    date: YYYY-MM-DD; attnmatrix: the version that probed.
    """

    gpu: str
    compute_capability: str
    driver: str
    cuda: str
    torch: str
    library: str
    provider: tuple[str, str]
    command: str
    date: str
    attnmatrix: str
    records: Sequence[Record] = ()

    @property
    def capability(self) -> Capability:
        """The compute capability as a pair."""
        return parse_capability(self.compute_capability)

    @property
    def file_name(self) -> str:
        """GPU, library, distribution and version: what there is one file of."""
        gpu = re.sub(r"[^a-z0-9]+", "_", self.gpu.lower()).strip("_")
        name = "-".join((gpu, self.library, *self.provider))
        return re.sub(r"[^\w.+-]", "_", name) + ".json"

    def call(self, record: Record) -> Call:
        """What the probe called for a record."""
        axes = {**record.case, "features": tuple(record.case["features"])}
        return Call(self.capability, self.provider, **axes)


class Fault(NamedTuple):
    """One thing wrong with an evidence file: its line, what, and what to do."""

    line: int
    message: str
    hint: str = ""


class InvalidEvidence(ValueError):
    """An evidence file that cannot be read: all that is wrong with it, in order."""

    def __init__(self, file: str, faults: Sequence[Fault]) -> None:
        self.file = file
        self.faults = tuple(sorted(faults))
        lines = (
            f"{file}:{fault.line}: {fault.message}" + (f"; {fault.hint}" if fault.hint else "")
            for fault in self.faults
        )
        super().__init__("\n".join(lines))


def stand(
    record: Record,
    rows: Sequence[dict[str, Any]],
    evidence: Evidence,
    exceptions: Sequence[dict[str, Any]] = (),
) -> str:
    """How a record stands to the rows and exceptions of its kernel, as generated.

    'verified': claimed and right. 'overclaim': claimed, but refused, wrong or crashed.
    'underclaim': right, but not claimed. 'excepted': an underclaim that an exception gives a reason
    for. 'hazard': not claimed, and not refused either: wrong or crashed. 'agreed': refused and not
    claimed. 'untested': it says nothing.
    """
    index = RowIndex(rows, evidence.capability, evidence.provider)
    claimed = index.row(record.case) is not None
    standing = standing_of(record.outcome, claimed)
    if standing == "underclaim" and excepted(exceptions, evidence.call(record)) is not None:
        return "excepted"
    return standing


def standing_of(outcome: str, claimed: bool) -> str:
    """As `stand`, exceptions aside."""
    if outcome == "untested":
        return "untested"
    if outcome == "right":
        return "verified" if claimed else "underclaim"
    if claimed:
        return "overclaim"
    return "agreed" if outcome == "refused" else "hazard"


def read(path: Path | str) -> Evidence:
    """The evidence of a file. Raises InvalidEvidence with all its faults, or OSError."""
    path = Path(path)
    return parse(path.read_bytes(), path.name)


def parse(
    raw: bytes, file: str, *, shown: str = "", loads: Callable[[bytes], Any] = json.loads
) -> Evidence:
    """The evidence in the bytes of a file of that name. Raises InvalidEvidence.

    shown: what errors call the file, if not by its name. loads: a faster parser of JSON, if one is
    at hand; what it does not take is parsed again by the standard one.
    """
    from .evidence_faults import faults_of, parsed

    data = parsed(raw, shown or file, loads)
    faults = faults_of(data, raw, file)
    if faults:
        raise InvalidEvidence(shown or file, faults)
    provider = data["provider"]
    header = {name: data[name] for name in HEADER}
    header["provider"] = (provider["distribution"], provider["version"])
    records = list(map(Record._make, map(itemgetter(*Record._fields), data["records"])))
    return Evidence(**header, records=records)


def text(evidence: Evidence) -> str:
    """The file's text: the header's keys in order, then a record a line, sorted.

    Signs that no text file holds become spaces in messages. Raises InvalidEvidence for what `read`
    would refuse.
    """
    header: dict[str, Any] = {name: getattr(evidence, name) for name in HEADER}
    distribution, version = evidence.provider
    header["provider"] = {"distribution": distribution, "version": version}
    lines = [f' "{name}": {_json(value)},\n' for name, value in header.items()]
    items = []
    for record in sorted(evidence.records, key=lambda r: order(r.kernel, r.case)):
        case = {axis: record.case[axis] for axis in AXES}
        case["features"] = sorted(case["features"])
        message = record.message and re.sub(r"[\x00-\x1f\x7f\ud800-\udfff]+", " ", record.message)
        items.append("\n  " + _json(record._replace(case=case, message=message)._asdict()))
    whole = "{\n" + "".join(lines) + f' "records": [{",".join(items)}\n ]\n' + "}\n"
    parse(whole.encode(), evidence.file_name)
    return whole


def write(folder: Path | str, evidence: Evidence) -> Path:
    """Writes the evidence under its own name, whole or not at all; returns the path."""
    content = text(evidence)
    path = Path(folder) / evidence.file_name
    write_whole(path, content)
    return path


def order(kernel: str, case: dict[str, Any]) -> tuple[Any, ...]:
    """Where a record stands in a file; two of one place are of one case."""
    return next(ordered([kernel], *([case[axis]] for axis in AXES)))


def ordered(kernels: Sequence[str], *columns: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """The same of many records, the columns of their cases in the order of AXES."""
    formats, dtypes, sizes, pages, heads, topks, extras, features = columns
    named, counted = [name or "" for name in extras], [count or 0 for count in topks]
    return zip(kernels, formats, named, dtypes, sizes, pages, heads, counted, features, strict=True)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
