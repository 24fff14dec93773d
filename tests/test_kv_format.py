from __future__ import annotations

import copy
import pickle

import pytest

from attnmatrix.kv_format import SCALE_DTYPES, SCALED_DTYPES, KVFormat, Part
from attnmatrix.registry import get_kv_format, kv_format_names
from tests import formats


def changed(fmt: KVFormat, **changes: object) -> KVFormat:
    arguments = {field: getattr(fmt, field) for field in KVFormat.__slots__}
    return KVFormat(**{**arguments, **changes})


class TestFrozen:
    FMT = get_kv_format("ds_mla_v4")

    @pytest.mark.parametrize("entry", [FMT, FMT.data[0]], ids=["format", "part"])
    def test_nothing_can_be_set_or_deleted(self, entry: KVFormat | Part) -> None:
        properties = ("values", "parts", "data_bytes", "scale_bytes", "bytes", "unheard_of")
        for field in (*entry.__slots__, *properties):
            before = getattr(entry, field, None)
            with pytest.raises(AttributeError):
                setattr(entry, field, 1)
            with pytest.raises(AttributeError):
                delattr(entry, field)
            assert getattr(entry, field, None) is before or field in properties

    def test_the_error_says_what_and_of_which(self) -> None:
        with pytest.raises(AttributeError) as caught:
            self.FMT.bytes_per_token = 1
        assert str(caught.value) == (
            "bytes_per_token of <KVFormat ds_mla_v4: 584 B per token> cannot be set: "
            "entries never change"
        )
        assert get_kv_format("ds_mla_v4").bytes_per_token == 584

    def test_lists_become_tuples(self) -> None:
        fmt = changed(self.FMT, data=list(self.FMT.data), notes=["a"])
        assert fmt.data == self.FMT.data
        assert fmt.notes == ("a",)


@pytest.mark.parametrize("name", kv_format_names())
@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        *(
            lambda fmt, protocol=protocol: pickle.loads(pickle.dumps(fmt, protocol))
            for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
        ),
    ],
)
def test_a_copy_is_equal_and_as_frozen(name: str, copied: object) -> None:
    fmt = get_kv_format(name)
    again = copied(fmt)  # type: ignore[operator]
    assert again == fmt
    assert hash(again) == hash(fmt)
    assert {fmt: 1}[again] == 1
    assert again.parts == fmt.parts
    with pytest.raises(AttributeError):
        again.head_size = 1
    with pytest.raises(AttributeError):
        again.data[0].count = 1


def test_formats_that_differ_are_not_equal() -> None:
    for field in KVFormat.__slots__:
        other = changed(formats.V4, **{field: () if field in ("data", "scales") else "x"})
        if field == "sources":
            other = changed(formats.V4, sources=("x",))
        assert other != formats.V4
    assert Part("a", "uint8", 1) != Part("a", "uint8", 2)
    assert Part("a", "uint8", 1) != "a"
    # Two formats of 528 B, under one name even.
    assert changed(formats.V41_SPLIT, name=formats.V41.name) != formats.V41


def test_the_packer_knows_the_scaled_dtypes() -> None:
    quantize = pytest.importorskip("attnmatrix.kernels.quantize")
    assert set(SCALED_DTYPES) == set(quantize.LARGEST)
    assert set(SCALE_DTYPES) <= {*quantize.NATIVE, "float8_e8m0fnu"}
