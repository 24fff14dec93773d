"""An engine on one GPU, ready to be asked."""

from __future__ import annotations

from .standins import StandIn, Unknown
from .world import Sources, World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

REGISTRIES = ("v1.attention.backends.registry", "attention.backends.registry")
"""Where an engine keeps its list of backends, below its package."""

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
    """An engine's configuration where no model is chosen."""

    def __init__(self, ask_model: Callable[[], None]) -> None:
        self._ask_model = ask_model
        self.parallel_config = _Parallel()

    @property
    def model_config(self) -> None:
        """No model; notes that one was asked for."""
        self._ask_model()

    def __getattr__(self, name: str) -> StandIn:
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
