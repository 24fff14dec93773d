"""Compute capabilities: pairs of integers, however spelled."""

from __future__ import annotations

import pytest

from attnmatrix import Request, RequestError, gpu_names
from attnmatrix.capability import NO_GPU, CapabilityPattern, parse_capability


@pytest.mark.parametrize(
    "value",
    ["9.0", "9.0a", "sm_90", "sm_90a", "SM90a", "compute_90", " 9.0 ", (9, 0), [9, 0]],
)
def test_spellings_of_one_capability(value: object) -> None:
    assert parse_capability(value) == (9, 0)


@pytest.mark.parametrize(
    ("value", "pair"),
    [("12.1", (12, 1)), ("sm_120f", (12, 0)), ("sm_103a", (10, 3)), ("10.0f", (10, 0))],
)
def test_two_digit_majors(value: str, pair: tuple[int, int]) -> None:
    assert parse_capability(value) == pair


@pytest.mark.parametrize(
    "value", [9.0, 9, "9", "90", "", "9.", "9.00", "12.10", "-9.0", "9.x", (9,), (9, 10), (9.0, 0)]
)
def test_what_is_no_capability_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is not a compute capability"):
        parse_capability(value)


@pytest.mark.parametrize(
    ("pattern", "takes", "leaves"),
    [
        ("9.0", ["9.0"], ["8.9", "9.1", "10.0", "12.0"]),
        ("10.x", ["10.0", "10.3", "10.7"], ["1.0", "9.0", "11.0", "12.0"]),
        (">=8.0", ["8.0", "9.0", "10.3", "12.1"], ["7.5"]),
        (">=7.5,<10.0", ["7.5", "9.0"], ["7.0", "10.0", "12.0"]),
        ("12.0", ["12.0"], ["12.1", "1.2"]),
        ("<=9.0", ["7.5", "9.0"], ["12.0"]),
    ],
)
def test_patterns_compare_integers(pattern: str, takes: list[str], leaves: list[str]) -> None:
    compiled = CapabilityPattern(pattern)
    assert [c for c in takes + leaves if compiled.matches(parse_capability(c))] == takes
    assert not compiled.matches(NO_GPU)


def test_only_any_and_none_take_a_machine_without_a_gpu() -> None:
    assert CapabilityPattern("any").matches(NO_GPU)
    assert CapabilityPattern("none").matches(NO_GPU)
    assert not CapabilityPattern("none").matches((9, 0))


@pytest.mark.parametrize("text", ["9", "9.0x", "10.X", ">=8", ">8.0;", "sm_90", "", "10.*"])
def test_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        CapabilityPattern(text)


@pytest.mark.parametrize(
    ("typed", "name", "capability"),
    [
        ("h200", "H200", (9, 0)),
        ("NVIDIA H100 80GB HBM3", "H100", (9, 0)),
        ("NVIDIA A100-SXM4-80GB", "A100", (8, 0)),
        ("NVIDIA GeForce RTX 4090", "RTX 4090", (8, 9)),
        ("rtx5090", "RTX 5090", (12, 0)),
        ("L40S", "L40S", (8, 9)),
        ("NVIDIA L4", "L4", (8, 9)),
        ("dgx-spark", "DGX Spark", (12, 1)),
        ("NVIDIA B300 SXM6 AC", "B300", (10, 3)),
        ("NVIDIA GH200 480GB", "GH200", (9, 0)),
        ("none", "none", NO_GPU),
    ],
)
def test_gpu_names_people_type(typed: str, name: str, capability: tuple[int, int]) -> None:
    request = Request(gpu=typed)
    assert (request.gpu, request.compute_capability) == (name, capability)


def test_an_unknown_gpu_is_refused_with_the_list() -> None:
    with pytest.raises(RequestError) as error:
        Request(gpu="H2000")
    message = str(error.value)
    assert error.value.field == "gpu"
    assert "did you mean 'H200'" in message
    assert all(name in message for name in gpu_names())


def test_words_before_a_name_make_another_name() -> None:
    with pytest.raises(RequestError):
        Request(gpu="Not an H100")


def test_a_gpu_and_another_capability_contradict() -> None:
    with pytest.raises(RequestError, match="compute_capability"):
        Request(gpu="H200", compute_capability="10.0")
    assert Request(gpu="H200", compute_capability="9.0a").compute_capability == (9, 0)


@pytest.mark.parametrize(
    ("typed", "name"),
    [("rocm", "rocm"), ("AMD ROCm", "rocm"), ("XPU", "xpu"), ("Intel XPU", "xpu")],
)
def test_devices_without_a_compute_capability(typed: str, name: str) -> None:
    request = Request(gpu=typed)
    assert request.gpu == name
    assert request == Request(gpu=name)
    assert parse_capability(name) == request.compute_capability
    assert request.compute_capability is not None
    assert CapabilityPattern(name).matches(request.compute_capability)
    assert CapabilityPattern("any").matches(request.compute_capability)
    for pattern in ("none", ">=7.0", "<9.0", "9.0", "10.x"):
        assert not CapabilityPattern(pattern).matches(request.compute_capability)
    assert not CapabilityPattern(name).matches((9, 0))
    assert not CapabilityPattern(name).matches(NO_GPU)


def test_no_number_stands_for_a_device() -> None:
    with pytest.raises(ValueError, match="is not a compute capability"):
        parse_capability("0.1")
