"""Where kernel libraries are found, and the words for where they are not."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from attnmatrix.kernels import providers
from attnmatrix.kernels.errors import KernelError
from attnmatrix.kernels.providers import FlashMLA, find_flash_mla, find_flashinfer, load_flash_mla
from attnmatrix.libraries import Absent


class Installed:
    """A site-packages folder as importlib.metadata would see it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.versions: dict[str, str] = {}
        monkeypatch.setattr(providers.metadata, "version", self.version)
        monkeypatch.setattr(providers.metadata, "distribution", lambda name: self)
        monkeypatch.setattr(providers, "find_spec", lambda name: None)

    def version(self, name: str) -> str:
        if name not in self.versions:
            raise metadata.PackageNotFoundError(name)
        return self.versions[name]

    def locate_file(self, name: str) -> Path:
        return self.folder / name

    def add(self, name: str, version: str, *files: str) -> None:
        self.versions[name] = version
        for file in files:
            path = self.folder / file
            path.parent.mkdir(exist_ok=True)
            path.touch()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    return Installed(tmp_path, monkeypatch)


def operator(*types: str) -> Any:
    arguments = [SimpleNamespace(type=kind) for kind in types]
    call = SimpleNamespace(_schema=SimpleNamespace(arguments=arguments))
    return SimpleNamespace(default=call)


@pytest.fixture
def ops(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """torch.ops whose namespaces fill when their files are loaded; the files loaded so far."""
    found: dict[str, Any] = {"loaded": []}
    spaces = {
        name: SimpleNamespace() for name in ("_flashmla_C", "_flashmla_extension_C", "sgl_kernel")
    }

    def load(path: Path) -> None:
        found["loaded"].append(path.name)
        tensors = ["Tensor"] * 12
        if path.name.startswith("_flashmla_C"):
            space = spaces["_flashmla_C"]
            space.sparse_decode_fwd = operator(*tensors, "Optional[Tensor]", "bool")
            space.dense_decode_fwd = operator(*tensors[:9], "Optional[Tensor]")
        elif path.name.startswith("_flashmla_extension_C"):
            spaces["_flashmla_extension_C"].fwd_kvcache_mla_fp8 = operator(*tensors[:11])
        else:
            spaces["sgl_kernel"].sparse_decode_fwd = operator(*tensors, "Optional[str]")
            spaces["sgl_kernel"].dense_decode_fwd = operator(*tensors[:9])

    monkeypatch.setattr(providers.torch, "ops", SimpleNamespace(load_library=load, **spaces))
    return found


VLLM = ("vllm/_flashmla_C.abi3.so", "vllm/_flashmla_extension_C.abi3.so")


def test_nothing_installed_is_a_reason(installed: Installed) -> None:
    for name in providers.HOMES:
        found = load_flash_mla(name)
        assert isinstance(found, Absent)
        assert str(found) == "not installed"
    with pytest.raises(KernelError) as caught:
        find_flash_mla()
    assert str(caught.value) == (
        "provider is vllm not installed; sglang-kernel not installed; flash-mla not installed; "
        "accepted: vllm, sglang-kernel, flash-mla; install one of these"
    )


def test_vllm_s_operators_come_without_vllm(installed: Installed, ops: dict[str, Any]) -> None:
    installed.add("vllm", "0.33.0", *VLLM)
    found = find_flash_mla()
    assert str(found) == "vllm==0.33.0"
    assert ops["loaded"] == ["_flashmla_C.abi3.so", "_flashmla_extension_C.abi3.so"]
    assert found.operator("sparse_decode").last == "out"
    assert found.operator("dense_decode").last == "out"
    assert found.operator("dense_decode_fp8").last is None
    load_flash_mla("vllm")
    assert len(ops["loaded"]) == 2, "what is loaded is not loaded again"


def test_sglang_s_thirteenth_argument_is_a_format(
    installed: Installed, ops: dict[str, Any]
) -> None:
    installed.add("sglang-kernel", "0.4.10", "sgl_kernel/flashmla_ops.abi3.so")
    found = find_flash_mla("sglang-kernel")
    assert found.operator("sparse_decode").last == "kv_format"
    assert found.operator("dense_decode").last is None
    with pytest.raises(KernelError, match="a provider with sparse_prefill"):
        found.operator("sparse_prefill")


def test_a_choice_is_never_replaced(installed: Installed, ops: dict[str, Any]) -> None:
    installed.add("vllm", "0.33.0", *VLLM)
    with pytest.raises(KernelError, match="sglang-kernel not installed"):
        find_flash_mla("sglang-kernel")
    with pytest.raises(KernelError, match="accepted: vllm, sglang-kernel, flash-mla"):
        find_flash_mla("flashmla")
    assert not ops["loaded"]


def test_a_broken_one_says_why_and_the_next_serves(
    installed: Installed, ops: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    installed.add("vllm", "0.33.0")  # installed, without its extension
    installed.add("sglang-kernel", "0.4.10", "sgl_kernel/flashmla_ops.abi3.so")
    found = load_flash_mla("vllm")
    assert isinstance(found, Absent)
    assert str(found).startswith("failed to import (FileNotFoundError: vllm has no _flashmla_C")
    assert find_flash_mla().distribution == "sglang-kernel"

    def fail(path: Path) -> None:
        raise OSError("libcuda.so.1: cannot open shared object file\nmore")

    monkeypatch.setattr(providers.torch.ops, "load_library", fail)
    del providers.torch.ops.sgl_kernel.sparse_decode_fwd
    with pytest.raises(KernelError, match="sglang-kernel failed to import .OSError: libcuda.so.1"):
        find_flash_mla("sglang-kernel")


def test_a_source_tree_of_flash_mla_has_no_version(
    installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = SimpleNamespace(cuda=SimpleNamespace(sparse_decode_fwd=lambda *args: None))
    monkeypatch.setattr(providers, "find_spec", lambda name: object())
    monkeypatch.setattr(providers, "import_module", lambda name: module)
    found = load_flash_mla("flash-mla")
    assert isinstance(found, FlashMLA)
    assert found.version == "0+unknown"
    assert found.operator("sparse_decode").call is module.cuda.sparse_decode_fwd
    assert found.operator("sparse_decode").last is None


def test_flashinfer_s_absence_is_a_reason(
    installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KernelError, match="flashinfer-python not installed"):
        find_flashinfer()
    installed.add("flashinfer-python", "0.7.4")

    def fail(name: str) -> None:
        raise ImportError("no tvm_ffi")

    monkeypatch.setattr(providers, "import_module", fail)
    with pytest.raises(KernelError, match="failed to import .ImportError: no tvm_ffi"):
        find_flashinfer()


def test_this_machine_is_asked_anew(installed: Installed, ops: dict[str, Any]) -> None:
    assert isinstance(load_flash_mla("vllm"), Absent)
    installed.add("vllm", "0.24.0", *VLLM)
    assert isinstance(load_flash_mla("vllm"), FlashMLA)
    assert torch.ops is providers.torch.ops
