"""KV formats: the bytes of one token's record and how a page arranges them.

A format is identified by its name, never by its size: two formats of 528 B exist.
Sizes follow from the parts; nothing here needs torch.
"""

from __future__ import annotations

BITS = {
    "float4_e2m1fn": 4,
    "float8_e4m3fn": 8,
    "float8_e5m2": 8,
    "float8_e8m0fnu": 8,
    "uint8": 8,
    "float16": 16,
    "bfloat16": 16,
    "float32": 32,
}
"""Bits of one element, by storage dtype. Two float4_e2m1fn share a byte, the even element low."""

PER_TENSOR = "per_tensor"
"""`scaled_by` of a part whose one float32 scale is kept beside the cache, not in it."""

SCALED_DTYPES = ("float4_e2m1fn", "float8_e4m3fn", "float8_e5m2")
"""What a part whose scales lie in the cache may store."""

SCALE_DTYPES = ("float32", "float8_e8m0fnu", "float8_e4m3fn")
"""What such scales may be stored as."""


class _Frozen:
    """Attributes are set once, so that everybody can share an entry. All equal is equal."""

    __slots__: tuple[str, ...] = ()
    name: str

    def __setattr__(self, field: str, value: object) -> None:
        if hasattr(self, field):  # unset while __init__, a copy or an unpickling fills it
            raise AttributeError(f"{field} of {self!r} cannot be set: entries never change")
        object.__setattr__(self, field, value)

    def __delattr__(self, field: str) -> None:
        raise AttributeError(f"{field} of {self!r} cannot be deleted: entries never change")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, field) == getattr(other, field) for field in self.__slots__)

    def __hash__(self) -> int:
        return hash(self.name)


class Part(_Frozen):
    """Consecutive elements of one dtype in a token's data row or scale row.

    `scaled_by` names the part that holds this part's scales, one for `group` consecutive
    elements, or is `per_tensor`, or None for values stored as they are. `transposed=(r, c)`
    says that the elements, numbered in order, form an r x c matrix that is stored transposed.
    `amax_floor` (scale parts): a packer treats a group's largest magnitude as at least this.
    `power_of_two` (scale parts): a packer rounds scales up to powers of two, though the dtype could
    hold others; float8_e8m0fnu holds nothing else and needs no such word.
    """

    __slots__ = (
        "name",
        "dtype",
        "count",
        "scaled_by",
        "group",
        "transposed",
        "amax_floor",
        "power_of_two",
    )

    def __init__(
        self,
        name: str,
        dtype: str,
        count: int,
        *,
        scaled_by: str | None = None,
        group: int | None = None,
        transposed: tuple[int, int] | None = None,
        amax_floor: float | None = None,
        power_of_two: bool = False,
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.count = count
        self.scaled_by = scaled_by
        self.group = group
        self.transposed = transposed
        self.amax_floor = amax_floor
        self.power_of_two = power_of_two

    @property
    def bytes(self) -> int:
        """Stored size in bytes."""
        return self.count * BITS[self.dtype] // 8

    def __repr__(self) -> str:
        return f"<Part {self.name}: {self.count} {self.dtype}>"


class KVFormat(_Frozen):
    """One token's record and its page.

    `data` and `scales` list the parts of a token's data row and scale row in stored order. With
    arrangement `token_by_token` a record is its data row followed by its scale row, and a page is
    its records; with `data_then_scales` a page holds every data row first, then every scale row.
    A page is rounded up to a multiple of `round_up_to` bytes. `head_size` counts semantic elements
    (the width of what a query is multiplied with), never bytes. A format never changes; two that
    are alike in everything are equal.
    """

    __slots__ = (
        "name",
        "title",
        "head_size",
        "bytes_per_token",
        "data",
        "scales",
        "arrangement",
        "round_up_to",
        "notes",
        "sources",
    )

    def __init__(
        self,
        name: str,
        *,
        title: str,
        head_size: int,
        bytes_per_token: int,
        data: tuple[Part, ...],
        scales: tuple[Part, ...] = (),
        arrangement: str = "token_by_token",
        round_up_to: int = 1,
        notes: tuple[str, ...] = (),
        sources: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.title = title
        self.head_size = head_size
        self.bytes_per_token = bytes_per_token
        self.data = tuple(data)
        self.scales = tuple(scales)
        self.arrangement = arrangement
        self.round_up_to = round_up_to
        self.notes = tuple(notes)
        self.sources = tuple(sources)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Every part, data row first."""
        return self.data + self.scales

    @property
    def values(self) -> tuple[Part, ...]:
        """The parts that hold the token's semantic elements, in semantic order."""
        scale_names = {part.scaled_by for part in self.parts}
        return tuple(p for p in self.parts if p.name not in scale_names and p.dtype != "uint8")

    @property
    def data_bytes(self) -> int:
        """Bytes of one token's data row."""
        return sum(part.bytes for part in self.data)

    @property
    def scale_bytes(self) -> int:
        """Bytes of one token's scale row."""
        return sum(part.bytes for part in self.scales)

    def page_bytes(self, page_size: int) -> int:
        """Bytes of a page of `page_size` tokens, rounding included."""
        payload = page_size * self.bytes_per_token
        return -(-payload // self.round_up_to) * self.round_up_to

    def row_offsets(self, page_size: int, slot: int) -> tuple[int, int]:
        """Byte offsets within a page of the data row and the scale row of token `slot`.

        Raises IndexError if the slot is not in 0 .. page_size - 1.
        """
        if not 0 <= slot < page_size:
            raise IndexError(f"slot {slot} is not in a page of {page_size} tokens")
        if self.arrangement == "token_by_token":
            start = slot * self.bytes_per_token
            return start, start + self.data_bytes
        return slot * self.data_bytes, page_size * self.data_bytes + slot * self.scale_bytes

    def __repr__(self) -> str:
        return f"<KVFormat {self.name}: {self.bytes_per_token} B per token>"
