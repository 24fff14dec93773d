"""Which installed distribution provides a kernel library, and its operators.

FlashMLA has three homes: the `flash_mla` module, the `vllm` wheel and the `sglang-kernel` wheel.
The wheels' operators come out of their extension files, found through `importlib.metadata`; neither
vllm nor sgl_kernel is imported. Nothing is remembered between calls but what a process has loaded.
"""

from __future__ import annotations

from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from attnmatrix.libraries import Absent

from .errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable

HOMES = ("vllm", "sglang-kernel", "flash-mla")
"""Distributions that ship FlashMLA, in the order of an automatic choice: rows know the versions of
the first two, while no version tells what a build of flash-mla holds."""

_FILES = {
    "vllm": (
        ("_flashmla_C", "vllm/_flashmla_C"),
        ("_flashmla_extension_C", "vllm/_flashmla_extension_C"),
    ),
    "sglang-kernel": (("sgl_kernel", "sgl_kernel/flashmla_ops"),) * 2,
}
"""Namespaces of the main operators and of the dense FP8 ones, and the files that register them."""


class Operator(NamedTuple):
    """A library's callable, and what its last argument is: 'out', 'kv_format' or None for none.

    The argument in that place is a tensor to write to in vllm's builds, a format's name in
    sglang-kernel's from 0.4.8 on, and missing or a switch in the others.
    """

    call: Callable[..., Any]
    last: str | None = None


class FlashMLA(NamedTuple):
    """FlashMLA's operators as one distribution provides them; None where it has none."""

    distribution: str
    version: str
    sparse_decode: Operator | None = None
    dense_decode: Operator | None = None
    sparse_prefill: Operator | None = None
    dense_decode_fp8: Operator | None = None
    dense_fp8_schedule: Operator | None = None

    def __str__(self) -> str:
        return f"{self.distribution}=={self.version}"

    def operator(self, name: str) -> Operator:
        """The operator of that name. Raises KernelError if this distribution has none."""
        found: Operator | None = getattr(self, name)
        if found is None:
            raise KernelError("provider", str(self), f"a provider with {name}")
        return found


def find_flash_mla(provider: str | None = None) -> FlashMLA:
    """FlashMLA from the named distribution, or from the first of HOMES that loads.

    A named one is never replaced by another. Raises KernelError: not installed, or failed to
    import and why.
    """
    if provider is not None and provider not in HOMES:
        raise KernelError("provider", provider, HOMES)
    reasons = []
    for name in HOMES if provider is None else (provider,):
        found = load_flash_mla(name)
        if isinstance(found, FlashMLA):
            return found
        reasons.append(f"{name} {found.reason}")
    raise KernelError("provider", "; ".join(reasons), HOMES, "install one of these")


def load_flash_mla(distribution: str) -> FlashMLA | Absent:
    """FlashMLA of one distribution, or why it cannot be used."""
    try:
        version = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        if distribution != "flash-mla" or find_spec("flash_mla") is None:
            return Absent()
        version = "0+unknown"  # a source tree on the path
    try:
        main, extension = _load(distribution)
    except Exception as error:  # an extension may fail in any way: missing symbols, no driver
        return Absent(f"failed to import ({_first_line(error)})")
    return FlashMLA(
        distribution,
        version,
        sparse_decode=_operator(main, "sparse_decode_fwd", 12),
        dense_decode=_operator(main, "dense_decode_fwd", 9),
        sparse_prefill=_operator(main, "sparse_prefill_fwd", 7),
        dense_decode_fp8=_operator(extension, "fwd_kvcache_mla_fp8", 11),
        dense_fp8_schedule=_operator(extension, "get_mla_decoding_metadata_dense_fp8", 3),
    )


def _load(distribution: str) -> tuple[Any, Any]:
    """Namespaces of the main operators and of the dense FP8 ones."""
    if distribution == "flash-mla":
        module = import_module("flash_mla")
        if hasattr(torch.ops.flash_mla, "sparse_decode_fwd"):
            return torch.ops.flash_mla, torch.ops.flash_mla
        return module.cuda, module.cuda
    found = []
    for namespace, stem in _FILES[distribution]:
        ops = getattr(torch.ops, namespace)
        # A process that has imported the distribution has the operators already.
        if not (hasattr(ops, "sparse_decode_fwd") or hasattr(ops, "fwd_kvcache_mla_fp8")):
            torch.ops.load_library(_extension(distribution, stem))
        found.append(ops)
    return found[0], found[1]


def _extension(distribution: str, stem: str) -> Path:
    """The extension file of a distribution; `stem` is its path without what the build appends."""
    folder, name = stem.split("/")
    roots = [Path(str(metadata.distribution(distribution).locate_file(folder)))]
    spec = find_spec(folder)  # an editable install lies elsewhere; finding imports nothing
    if spec is not None and spec.submodule_search_locations:
        roots += [Path(root) for root in spec.submodule_search_locations]
    for root in roots:
        for file in sorted(root.glob(f"{name}.*")):
            if file.suffix in (".so", ".pyd"):
                return file
    raise FileNotFoundError(f"{distribution} has no {name} extension in {roots[0]}")


def _operator(namespace: Any, name: str, arguments: int) -> Operator | None:
    """An operator of `arguments` arguments that all builds share, and what follows them."""
    packet = getattr(namespace, name, None)
    if packet is None:
        return None
    schema = getattr(getattr(packet, "default", None), "_schema", None)
    if schema is None:
        return Operator(packet)
    # What the packet calls in the end; asking it saves the host two Python frames a call.
    call = getattr(packet.default, "_op", packet.default)
    if len(schema.arguments) <= arguments:
        return Operator(call)
    last = str(schema.arguments[arguments].type)
    kinds = {"Optional[Tensor]": "out", "Optional[str]": "kv_format"}
    return Operator(call, kinds.get(last))


def find_flashinfer() -> tuple[Any, str]:
    """The module flashinfer.mla and its version. Raises KernelError if it cannot be used."""
    try:
        version = metadata.version("flashinfer-python")
    except metadata.PackageNotFoundError:
        raise KernelError("library", "flashinfer-python not installed", "FlashInfer") from None
    try:
        return import_module("flashinfer.mla"), version
    except Exception as error:  # its own imports may fail in any way
        why = f"flashinfer-python failed to import ({_first_line(error)})"
        raise KernelError("library", why, "FlashInfer") from error


def _first_line(error: Exception) -> str:
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
