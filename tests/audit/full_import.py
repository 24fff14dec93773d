"""An independent witness: imports a release whole, with the real torch, and asks its backends.

    python full_import.py FOLDER 9.0

prints, as JSON, what each backend answers where the GPU has that compute capability. Nothing of the
audit is used: Python's own import system runs every module from its first line to its last. What is
not installed is mocked, freely: a mock answers anything. So it is no reader (it would guess), but
where the audit does answer, it must say the same. It needs torch, pydantic, cachetools, msgspec and
whatever else the release imports that a mock cannot stand in for (transformers, for one).
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import sys
import types
from typing import Any, get_args

ABSENT = {
    "aiter",
    "amdsmi",
    "b12x",
    "deep_ep",
    "flash_attn",
    "flashinfer_cubin",
    "libtpu",
    "nixl_ep",
}
"""Packages that count as not installed: the release does not require them."""

OPERATORS = ("_C", "_C_cache_ops", "_moe_C", "_flashmla_C", "_C_stable_libtorch")


class Base:
    """A mocked base class."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any = None, handler: Any = None) -> Any:
        from pydantic_core import core_schema

        return core_schema.any_schema()


class Mock:
    """An object that goes along with everything."""

    __get_pydantic_core_schema__ = Base.__get_pydantic_core_schema__

    def __getattr__(self, name: str) -> Mock:
        if name.startswith("__"):
            raise AttributeError(name)
        return Mock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType | type):
            return args[0]
        return Mock()

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        known = any(isinstance(base, type) and issubclass(base, Base) for base in bases)
        first = next(base for base in bases if isinstance(base, Mock))
        return () if known or first is not self else (Base,)

    def _self(self, *_: object) -> Mock:
        return self

    def _false(self, *_: object) -> bool:
        return False

    def _zero(self, *_: object) -> int:
        return 0

    def __iter__(self) -> Any:
        return iter(())

    def __bool__(self) -> bool:
        return True

    def __hash__(self) -> int:
        return id(self)

    __getitem__ = __or__ = __ror__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = _self
    __truediv__ = __enter__ = _self
    __lt__ = __gt__ = __le__ = __ge__ = __contains__ = __exit__ = _false
    __instancecheck__ = __subclasscheck__ = _false
    __len__ = __int__ = __index__ = _zero


class MockModule(types.ModuleType):
    """A module of a package that is not here."""

    __path__: list[str] = []
    __version__ = "9.9.9"
    __file__ = "/nowhere/mocked.py"

    def __getattr__(self, name: str) -> Mock:
        if name.startswith("__"):
            raise AttributeError(name)
        return Mock()


class Loader(importlib.abc.Loader):
    """Makes mocked modules."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> MockModule:
        """A mocked module."""
        return MockModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is to be run."""


class Finder(importlib.abc.MetaPathFinder):
    """Asked last: finds, for the release's own imports, what nobody else has found."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """A mocked module's spec, or None where the import shall fail."""
        top, base = name.split(".")[0], name.rpartition(".")[2]
        compiled = base.startswith("_") and "C" in base
        if top in sys.stdlib_module_names or top in ABSENT or (top == "vllm" and not compiled):
            return None
        frame = sys._getframe(1)
        while "importlib" in frame.f_code.co_filename and frame.f_back is not None:
            frame = frame.f_back
        mocked = isinstance(sys.modules.get(top), MockModule)
        if "/vllm/" not in frame.f_code.co_filename and not mocked:
            return None  # another library looks whether it has an optional part
        return importlib.machinery.ModuleSpec(name, Loader(), is_package=True)


class Config:
    """A configuration without a model."""

    model_config = None
    parallel_config = types.SimpleNamespace(
        decode_context_parallel_size=1, prefill_context_parallel_size=1
    )
    cache_config = types.SimpleNamespace()
    attention_config = types.SimpleNamespace(use_trtllm_attention=None, flash_attn_version=None)


def prepare(folder: str, capability: tuple[int, int]) -> Any:
    """Puts the release on a machine with such a GPU; its DeviceCapability class."""
    os.environ["VLLM_TARGET_DEVICE"] = "cuda"
    sys.path.insert(0, folder)
    import torch

    properties = types.SimpleNamespace(multi_processor_count=1, gcnArchName="", name="a GPU")
    torch.cuda._lazy_init = lambda: None
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_properties = lambda *_, **__: properties
    torch.library.register_fake = lambda *_, **__: lambda function: function
    empty = torch.empty
    torch.empty = lambda *a, device=None, **k: empty(*a, **k)
    for name in OPERATORS:
        setattr(torch.ops, name, Mock())
    sys.meta_path.append(Finder())
    platforms = importlib.import_module("vllm.platforms")
    device = importlib.import_module("vllm.platforms.interface").DeviceCapability
    base = importlib.import_module("vllm.platforms.cuda").CudaPlatformBase
    answers = {"get_device_capability": classmethod(lambda cls, device_id=0: device(*capability))}
    platforms._current_platform = type("Platform", (base,), answers)()
    for name in ("vllm.config.vllm", "vllm.config"):
        importlib.import_module(name).get_current_vllm_config = lambda: Config
    return device(*capability)


def answers(backend: Any, device: Any) -> dict[str, Any]:
    """What one backend answers."""
    import torch

    names = get_args(importlib.import_module("vllm.config.cache").CacheDType)
    dtypes = {name: getattr(torch, name) for name in ("float16", "bfloat16", "float32")}
    sizes = backend.get_supported_kernel_block_sizes()
    return {
        "dtypes": [name for name, dtype in dtypes.items() if backend.supports_dtype(dtype)],
        "kv_cache_dtypes": [name for name in names if backend.supports_kv_cache_dtype(name)],
        "block_sizes": [size if isinstance(size, int) else f"%{size.base}" for size in sizes],
        "head_sizes": [size for size in range(1, 1025) if backend.supports_head_size(size)],
        "compute_capabilities": bool(backend.supports_compute_capability(device)),
        "sink": backend.supports_sink(),
        "sparse": backend.is_sparse(),
        "mla": backend.is_mla(),
    }


def main(folder: str, capability: str) -> None:
    """Prints the answers of every backend that can be imported."""
    major, minor = map(int, capability.split("."))
    with contextlib.redirect_stdout(sys.stderr):
        device = prepare(folder, (major, minor))
        registry = importlib.import_module("vllm.v1.attention.backends.registry")
        found = {}
        for name, member in registry.AttentionBackendEnum.__members__.items():
            if member.value:
                module, _, cls = member.value.rpartition(".")
                try:
                    backend = getattr(importlib.import_module(module), cls)
                    found[name] = answers(backend, device)
                except Exception as error:
                    print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
