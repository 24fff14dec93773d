"""A release against the matrix, where fields alone do not tell: combination by combination."""

from __future__ import annotations

from ..verdict import SUPPORTED, UNKNOWN
from .difference import LESS, MORE, Difference, difference
from .fields import Matrix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .reading import Reading

_FIELD_OF = {"head_size": "head_sizes", "kv_cache_dtype": "kv_cache_dtypes", "dtype": "dtypes"}
_FIELD_OF |= {"compute_capability": "compute_capabilities", "block_size": "block_sizes"}


def compare_combinations(
    reading: Reading, name: str, matrix: Matrix, explained: dict[str, set[Any]]
) -> Iterator[Difference]:
    """Combinations inside what is declared, answered otherwise, by reason.

    explained: values of each axis that differ by themselves; what has one of them is left out.
    """
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in reading.combinations.get(name, ()):
        axes = {axis: row[axis] for axis in ("compute_capability", "dtype", "kv_cache_dtype")}
        axes["head_size"] = row["head_size"]
        if row["reasons"] is None or any(axes[axis] in explained.get(axis, ()) for axis in axes):
            continue
        spelling = row["kv_cache_dtype"]
        if spelling in ("float16", "bfloat16") and spelling != row["dtype"]:
            continue  # an engine refuses these elsewhere: such a cache follows the model's dtype
        verdict = matrix.verdict(**axes)
        accepts = not row["reasons"]
        if verdict.status == UNKNOWN or accepts == (verdict.status == SUPPORTED):
            continue
        if accepts:
            nearest = verdict.reasons[0]
            field = _FIELD_OF.get(nearest.field, "combinations")
            groups.setdefault((field, MORE, nearest.message), []).append(axes)
        else:
            groups.setdefault(("combinations", LESS, "; ".join(row["reasons"])), []).append(axes)
    for (field, kind, reason), rows in groups.items():
        who = "the matrix" if kind == MORE else reading.engine
        where = "; ".join(_shown(axes) for axes in rows[:4])
        where += f" and {len(rows) - 4} more" if len(rows) > 4 else ""
        word = "more" if kind == MORE else "less"
        message = f"{reading.engine} claims {word}: {where}. {who}: {reason}"
        engine, other = (rows, []) if kind == MORE else ([], rows)
        yield difference(reading, name, field, kind, engine, other, message)


def _shown(axes: dict[str, Any]) -> str:
    return " × ".join(
        f"head size {value}" if axis == "head_size" else str(value) for axis, value in axes.items()
    )
