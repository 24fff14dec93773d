"""attnmatrix: what each attention backend supports, and why it does not support the rest.

    >>> import attnmatrix
    >>> verdict = attnmatrix.judge("FLASHMLA_SPARSE_DSV4", gpu="H200", kv_cache_dtype="bfloat16")
    >>> verdict.status
    'unsupported'

Importing this needs the standard library alone; each name below is loaded when first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .backend import Backend as Backend
    from .backend import MultipleOf as MultipleOf
    from .errors import RequestError as RequestError
    from .errors import UnknownName as UnknownName
    from .gpus import gpu_names as gpu_names
    from .kv_format import KVFormat as KVFormat
    from .libraries import Absent as Absent
    from .libraries import installed_libraries as installed_libraries
    from .models import Model as Model
    from .models import get_model as get_model
    from .models import model_names as model_names
    from .registry import backend_names as backend_names
    from .registry import get_backend as get_backend
    from .registry import get_kernel as get_kernel
    from .registry import get_kv_format as get_kv_format
    from .registry import kernel_names as kernel_names
    from .registry import kv_format_names as kv_format_names
    from .request import Request as Request
    from .selection import Selection as Selection
    from .selection import explain as explain
    from .selection import judge as judge
    from .selection import select as select
    from .verdict import Reason as Reason
    from .verdict import Verdict as Verdict

_HOME = {
    "Absent": "libraries",
    "Backend": "backend",
    "KVFormat": "kv_format",
    "Model": "models",
    "MultipleOf": "backend",
    "Reason": "verdict",
    "Request": "request",
    "RequestError": "errors",
    "Selection": "selection",
    "UnknownName": "errors",
    "Verdict": "verdict",
    "backend_names": "registry",
    "explain": "selection",
    "get_backend": "registry",
    "get_kernel": "registry",
    "get_kv_format": "registry",
    "get_model": "models",
    "gpu_names": "gpus",
    "installed_libraries": "libraries",
    "judge": "selection",
    "kernel_names": "registry",
    "kv_format_names": "registry",
    "model_names": "models",
    "select": "selection",
}

__all__ = sorted(_HOME)
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
