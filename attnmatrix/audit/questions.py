"""What is asked of each backend, in the engine's own words: its methods answer."""

from __future__ import annotations

import inspect
import re

from .standins import DTYPES, Dtype, StandIn, Unknown, UnknownBase
from .world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .world import Sources

REGISTRIES = ("v1.attention.backends.registry", "attention.backends.registry")
"""Where an engine keeps its list of backends, below its package."""

CAPABILITIES = tuple(
    (int(major), int(minor))
    for major, minor in (
        text.split(".") for text in "7.5 8.0 8.6 8.9 9.0 10.0 10.3 11.0 12.0 12.1".split()
    )
)
"""Compute capabilities asked about."""

FURTHER_CAPABILITIES = ((7, 0), (7, 2), (8, 7), (10, 1), (10, 7))
"""GPUs of less use, of which only it is asked whether they are taken."""

MAX_HEAD_SIZE = 1024
"""Head sizes up to here, in elements, are tried where a method and no list decides."""

_PLATFORMS = (("ROCM_", "rocm"), ("XPU_", "xpu"), ("CPU_", "cpu"), ("AMX_", "cpu"))
_PLATFORM_CLASSES = {
    "cuda": ("platforms.cuda", ("CudaPlatform", "CudaPlatformBase")),
    "rocm": ("platforms.rocm", ("RocmPlatform",)),
    "xpu": ("platforms.xpu", ("XPUPlatform",)),
    "cpu": ("platforms.cpu", ("CpuPlatform",)),
}


def platform_of(backend: str) -> str:
    """The platform that a backend is for, by its name; cuda where the name names none."""
    return next((platform for prefix, platform in _PLATFORMS if backend.startswith(prefix)), "cuda")


class _Config:
    """An engine's configuration where no model is chosen: what hangs on one is unknown."""

    model_config = None

    def __init__(self, asked: Callable[[], None]) -> None:
        self._asked = asked

    def __getattribute__(self, name: str) -> Any:
        if name == "model_config":
            object.__getattribute__(self, "_asked")()
            return None
        if name == "parallel_config":
            return _Parallel()
        if name in ("cache_config", "attention_config"):
            return StandIn(f"the configuration's {name}")
        if name.startswith("_"):
            return object.__getattribute__(self, name)
        return StandIn(f"the configuration's {name}")


class _Parallel:
    """One GPU: no parallelism."""

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_size"):
            return 1
        raise Unknown(f"the configuration's parallel_config.{name}")


class Examiner:
    """Asks the backends of one engine, on one platform with one compute capability.

    capability: (major, minor), or None on a platform that has none.
    """

    def __init__(self, sources: Sources, platform: str, capability: tuple[int, int] | None) -> None:
        self.package = sources.tree.package
        self.platform = platform
        self.capability = capability
        self.model_asked = False
        package = self.package
        overrides: dict[tuple[str, str], Callable[[], Any]] = {
            (f"{package}.platforms", "current_platform"): self._platform,
            (f"{package}.logger", "init_logger"): lambda: lambda *_: StandIn("a logger"),
        }
        for module in ("config", "config.vllm"):
            if sources.tree.module_file(f"{package}.{module}"):
                key = (f"{package}.{module}", "get_current_vllm_config")
                overrides[key] = lambda: lambda: _Config(self._ask_model)
                key = (f"{package}.{module}", "get_current_vllm_config_or_none")
                overrides[key] = lambda: lambda: self._ask_model()
        self.world = World(sources, overrides)

    def _ask_model(self) -> None:
        self.model_asked = True

    def _platform(self) -> Any:
        """An instance of the engine's own platform class, on a GPU of our choice."""
        module, classes = _PLATFORM_CLASSES[self.platform]
        loaded = self.world.load(f"{self.package}.{module}")
        base = next((getattr(loaded, name) for name in classes if hasattr(loaded, name)), None)
        if base is None:
            raise Unknown(f"{module} has none of {', '.join(classes)}")
        interface = self.world.load(f"{self.package}.platforms.interface")
        answers = {
            "get_device_capability": classmethod(lambda cls, device_id=0: self.device_capability()),
            "has_device_capability": interface.Platform.__dict__["has_device_capability"],
            "get_device_name": classmethod(lambda cls, device_id=0: StandIn("the device's name")),
        }
        return type(base.__name__, (base,), answers)()

    def device_capability(self, capability: tuple[int, int] | None = None) -> Any:
        """A compute capability as the engine's own type; by default this run's."""
        asked = capability or self.capability
        if asked is None:
            if self.platform == "cpu":
                return None
            raise Unknown(f"the GPU, on {self.platform}")
        return self.world.load(f"{self.package}.platforms.interface").DeviceCapability(*asked)

    def spellings(self) -> list[str]:
        """Every KV-cache dtype that the engine's command line takes."""
        from typing import get_args

        for module in ("config.cache", "config"):
            if self.world.tree.module_file(f"{self.package}.{module}"):
                found = getattr(self.world.load(f"{self.package}.{module}"), "CacheDType", None)
                if found is not None and all(isinstance(name, str) for name in get_args(found)):
                    return list(get_args(found))
        raise Unknown("which KV-cache dtypes the engine knows")

    def backend(self, path: str) -> Any:
        """The class at a dotted path. Raises what importing it raises."""
        module, _, name = path.rpartition(".")
        found = getattr(self.world.load(module), name)
        if isinstance(found, StandIn):
            raise Unknown(f"{path} is made by {found!r}")
        return found


def registered(sources: Sources) -> dict[str, str | None]:
    """Every backend of the registry: name -> class path, None or empty for a mere tag."""
    package = sources.tree.package
    for name in REGISTRIES:
        if sources.tree.module_file(f"{package}.{name}"):
            enum = World(sources).load(f"{package}.{name}").AttentionBackendEnum
            return {key: member.value for key, member in enum.__members__.items()}
    raise LookupError(f"no {' or '.join(REGISTRIES)} below {package}")


def ask_fields(examiner: Examiner, backend: Any) -> dict[str, Any]:
    """The cells of one backend in one run: value, or an Unknown or error that says why not."""
    questions: dict[str, Callable[[], Any]] = {
        "dtypes": lambda: dtypes(backend),
        "kv_cache_dtypes": lambda: kv_cache_dtypes(examiner, backend),
        "block_sizes": lambda: [_size(size) for size in backend.get_supported_kernel_block_sizes()],
        "head_sizes": lambda: head_sizes(backend),
        "sink": lambda: _bool(backend.supports_sink()),
        "sparse": lambda: _bool(backend.is_sparse()),
        "mla": lambda: _bool(backend.is_mla()),
        "compute_capabilities": lambda: compute_capabilities(examiner, backend),
    }
    methods = {
        "dtypes": ("supports_dtype", "supported_dtypes"),
        "kv_cache_dtypes": ("supports_kv_cache_dtype", "supported_kv_cache_dtypes"),
        "block_sizes": ("get_supported_kernel_block_sizes",),
        "head_sizes": ("supports_head_size", "get_supported_head_sizes"),
        "sink": ("supports_sink",),
        "sparse": ("is_sparse",),
        "mla": ("is_mla",),
        "compute_capabilities": ("supports_compute_capability",),
    }
    found: dict[str, Any] = {}
    for field, question in questions.items():
        try:
            _all_known(backend, methods[field])
            found[field] = question()
        except (Exception, Unknown) as error:
            found[field] = error
    return found


def _all_known(backend: Any, names: Sequence[str]) -> None:
    """Raises Unknown where an attribute may come from a base class that is not here."""
    for name in names:
        for base in backend.__mro__:
            if base is UnknownBase:
                raise Unknown(f"{name}, which a base class that is not here may define")
            if name in vars(base):
                break


def _bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unknown(f"{value!r} in place of a boolean")
    return value


def _size(value: Any) -> int | str:
    if type(value) is int:
        return value
    if type(getattr(value, "base", None)) is int:
        return f"%{value.base}"
    raise Unknown(f"{value!r} in place of a block size")


def dtypes(backend: Any) -> list[str]:
    """Model dtypes that the backend says it takes, in its own order."""
    listed = list(backend.supported_dtypes)
    if not all(isinstance(dtype, Dtype) for dtype in listed):
        raise Unknown("a dtype that torch stand-ins do not know")
    candidates = dict.fromkeys([*listed, *DTYPES.values()])
    return [dtype.name for dtype in candidates if _bool(backend.supports_dtype(dtype))]


def kv_cache_dtypes(examiner: Examiner, backend: Any) -> list[str]:
    """KV-cache dtypes that the backend says it takes: its list's order, then the engine's."""
    candidates = dict.fromkeys([*backend.supported_kv_cache_dtypes, *examiner.spellings()])
    return [name for name in candidates if _bool(backend.supports_kv_cache_dtype(name))]


def compute_capabilities(
    examiner: Examiner, backend: Any, asked: Sequence[tuple[int, int]] = ()
) -> list[tuple[int, int]]:
    """Of the asked compute capabilities, those that the backend takes.

    Those of this run unless named: its GPU's, or all where the platform has none.
    """
    return [
        capability
        for capability in asked or ([examiner.capability] if examiner.capability else CAPABILITIES)
        if _bool(backend.supports_compute_capability(examiner.device_capability(capability)))
    ]


def head_sizes(backend: Any) -> list[int | str]:
    """Head sizes, in elements: a list as declared, empty for any, or what a method accepts.

    What a method accepts is written as `%8` (multiples), `<=256` and `>=32`, joined by a comma.
    """
    listed = list(backend.get_supported_head_sizes())
    if not all(type(size) is int for size in listed):
        raise Unknown(f"{listed!r} in place of head sizes")
    supports = backend.supports_head_size
    definer = next(base for base in backend.__mro__ if "supports_head_size" in vars(base))
    if definer.__name__ == "AttentionBackend":  # the engine's common rule; two samples will do
        if all(_bool(supports(size)) for size in listed) and _bool(supports(7)) is not bool(listed):
            return listed
    accepted = [size for size in range(1, MAX_HEAD_SIZE + 1) if _bool(supports(size))]
    return listed if listed and set(accepted) == set(listed) else summary(accepted)


def summary(accepted: list[int]) -> list[int | str]:
    """Accepted numbers of 1 to MAX_HEAD_SIZE as a rule where one fits, else one by one."""
    if not accepted:
        return ["none"]
    if len(accepted) == MAX_HEAD_SIZE:
        return []
    if len(accepted) < 4:
        return list(accepted)
    step, first, last = accepted[1] - accepted[0], accepted[0], accepted[-1]
    if first % step or accepted != list(range(first, last + 1, step)):
        return list(accepted)
    rule = [f"%{step}"] if step > 1 else []
    rule += [f">={first}"] if first > step else []
    rule += [f"<={last}"] if last + step <= MAX_HEAD_SIZE else []
    return [",".join(rule)]


def expand(sizes: list[int | str], samples: Sequence[int]) -> list[int]:
    """Head sizes to try: those that are named, and the samples that a rule holds."""
    if not sizes:
        return list(samples)
    found = [size for size in sizes if isinstance(size, int)]
    for rule in (size for size in sizes if isinstance(size, str) and size != "none"):
        found += [size for size in samples if holds(rule, size)]
    return found


def holds(rule: str, size: int) -> bool:
    """Whether a rule that `summary` wrote, such as `%8,<=256`, holds a head size."""
    tests = {"%": lambda n: size % n == 0, ">=": lambda n: size >= n, "<=": lambda n: size <= n}
    return all(
        tests[part.rstrip("0123456789")](int(part.lstrip("%<>="))) for part in rule.split(",")
    )


def combination_reasons(
    examiner: Examiner, backend: Any, kv_cache_dtype: str, head_size: int, dtype: str
) -> list[str]:
    """The engine's own reasons against a combination; empty where it accepts. Raises Unknown."""
    asked: dict[str, Any] = {
        "head_size": head_size,
        "dtype": DTYPES[dtype],
        "kv_cache_dtype": kv_cache_dtype,
        "block_size": None,
        "use_mla": backend.is_mla(),
        "has_sink": False,
        "use_sparse": backend.is_sparse(),
        "use_mm_prefix": False,
        "use_per_head_quant_scales": False,
        "device_capability": examiner.device_capability(),
        "attn_type": "decoder",
    }
    method = backend.validate_configuration
    code = method.__func__.__code__  # inspect.signature takes five times as long as the answer
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    takes_all = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    reasons = method(**{name: asked[name] for name in asked if takes_all or name in named})
    if not isinstance(reasons, list):
        raise Unknown(f"{reasons!r} in place of reasons")
    return [re.sub(r"\s+", " ", str(reason)) for reason in reasons]
