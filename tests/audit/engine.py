"""A made-up engine to audit: the least that looks like one. Written for these tests."""

from __future__ import annotations

import textwrap
import zipfile
from collections.abc import Mapping
from pathlib import Path

BASE = {
    "vllm/__init__.py": "",
    "vllm/_version.py": "__version__ = version = '1.2.3'\n",
    "vllm/logger.py": "def init_logger(name):\n    raise RuntimeError('not to be run')\n",
    "vllm/config/__init__.py": "from .vllm import get_current_vllm_config\n",
    "vllm/config/vllm.py": """
        def get_current_vllm_config():
            raise AssertionError('no configuration')
        """,
    "vllm/config/cache.py": """
        from typing import Literal

        CacheDType = Literal['auto', 'float16', 'bfloat16', 'fp8', 'fp8_e4m3', 'packed']
        """,
    "vllm/platforms/__init__.py": "import machine\n\ncurrent_platform = machine.detect()\n",
    "vllm/platforms/interface.py": """
        from typing import NamedTuple

        class DeviceCapability(NamedTuple):
            major: int
            minor: int

        class Platform:
            @classmethod
            def get_device_capability(cls, device_id=0):
                raise NotImplementedError

            @classmethod
            def has_device_capability(cls, capability, device_id=0):
                major, minor = divmod(capability, 10)
                return cls.get_device_capability() >= (major, minor)

            @classmethod
            def is_family(cls, family):
                return cls.get_device_capability().major == family // 10

            def is_cuda(self):
                return False

            def is_rocm(self):
                return False
        """,
    "vllm/platforms/cuda.py": """
        import pynvml
        from .interface import Platform

        class CudaPlatform(Platform):
            def is_cuda(self):
                return True
        """,
    "vllm/platforms/rocm.py": """
        import amdsmi
        from .interface import Platform

        ARCH = amdsmi.arch()

        def on_big_chip():
            return 'big' in ARCH

        class RocmPlatform(Platform):
            def is_rocm(self):
                return True
        """,
    "vllm/v1/attention/backend.py": """
        from abc import ABC
        from dataclasses import dataclass
        from typing import ClassVar

        import torch

        @dataclass(frozen=True)
        class MultipleOf:
            base: int

        class AttentionBackend(ABC):
            supported_dtypes: ClassVar[list[torch.dtype]] = [torch.float16, torch.bfloat16]
            supported_kv_cache_dtypes: ClassVar[list[str]] = ['auto', 'bfloat16']

            @staticmethod
            def get_supported_kernel_block_sizes():
                return [MultipleOf(1)]

            @classmethod
            def get_supported_head_sizes(cls):
                return []

            @classmethod
            def supports_head_size(cls, head_size):
                sizes = cls.get_supported_head_sizes()
                return not sizes or head_size in sizes

            @classmethod
            def supports_dtype(cls, dtype):
                return dtype in cls.supported_dtypes

            @classmethod
            def supports_kv_cache_dtype(cls, kv_cache_dtype):
                return kv_cache_dtype in cls.supported_kv_cache_dtypes

            @classmethod
            def supports_sink(cls):
                return False

            @classmethod
            def is_sparse(cls):
                return False

            @classmethod
            def is_mla(cls):
                return False

            @classmethod
            def supports_compute_capability(cls, capability):
                return True

            @classmethod
            def supports_combination(cls, head_size, kv_cache_dtype, device_capability):
                return None

            @classmethod
            def validate_configuration(cls, head_size, dtype, kv_cache_dtype, device_capability):
                reason = cls.supports_combination(head_size, kv_cache_dtype, device_capability)
                return [reason] if reason else []
        """,
}

METADATA = """\
Metadata-Version: 2.1
Name: vllm
Version: 1.2.3
Requires-Dist: torch==2.0
Requires-Dist: flashinfer-python==0.9.1
Requires-Dist: ray; extra == "ray"
"""


def files_of(
    backends: Mapping[str, str | None], files: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The engine's files. backends: registry name -> class path below `vllm.`; files: to add."""
    members = "\n".join(
        f"    {name} = {path and f'vllm.{path}'!r}" for name, path in backends.items()
    )
    registry = f"from enum import Enum\n\n\nclass AttentionBackendEnum(Enum):\n{members}\n"
    found = {**BASE, "vllm/v1/attention/backends/registry.py": registry, **(files or {})}
    return {name: textwrap.dedent(text).lstrip("\n") for name, text in found.items()}


def write_tree(root: Path, files: Mapping[str, str]) -> Path:
    """The files as a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def write_wheel(path: Path, files: Mapping[str, str], metadata: str = METADATA) -> Path:
    """The files as a wheel, with one compiled module."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr("vllm/_kernels_C.abi3.so", b"\x7fELF")
        archive.writestr("vllm-1.2.3.dist-info/METADATA", metadata)
    return path
