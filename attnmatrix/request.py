"""What a user asks for: one point, or a region, of the support matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .capability import Capability, parse_capability
from .errors import RequestError
from .libraries import BUILT_IN, Absent, known_distributions, normalize
from .sentences import sentence
from .spelling import did_you_mean
from .versions import Version, parse_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DTYPE_SPELLINGS = {
    "half": "float16",
    "fp16": "float16",
    "bf16": "bfloat16",
    "float": "float32",
    "fp32": "float32",
}
"""Common short spellings of a model dtype, as engines take them."""

PHASES = ("decode", "prefill")

FEATURES = {
    "attention_sink": "a float32 per query head joins the softmax denominator",
    "topk_length": "a count per query of the leading top-k indices that are valid",
    "extra_kv_pool": "a second cache whose selected tokens join the same softmax",
    "causal": "several query tokens a request, each seeing the keys up to its own",
    "strided_pages": "the page stride may exceed the page (pages of several layers in one slab)",
    "lse": "the log-sum-exp of the scores is returned",
}
"""Features that rows and requests name, each with its meaning."""

OF_A_MODEL = ("dtype", "head_size", "mla", "sparse", "sink", "topk")
"""Fields that a model fills in beside `query_heads`."""


class Request:
    """A frozen request. What is None (or not named) is not checked.

    model: a name such as 'DeepSeek-V3', which fills in what is not named: dtype, head_size, mla,
    sparse, sink, topk, and query_heads for the `tensor_parallel` GPUs that share them.
    compute_capability: '9.0', '9.0a', 'sm_90a', (9, 0); gpu: a name such as 'H200', 'rocm' or
    'xpu' for AMD's and Intel's, or 'none' for a machine without one. Name one of the two. dtype:
    the model's, such as 'bfloat16' or torch.bfloat16. kv_cache_dtype: what the user types, aliases
    unresolved. head_size: elements. block_size: tokens. query_heads: heads on one GPU. topk:
    indices a query selects. phase: 'decode' unless named. features: names out of FEATURES.
    libraries: version by distribution, such as {'vllm': '0.33.0'}, or an Absent that says why there
    is none. matrix: the package of generated modules that knows the GPU names and distributions.

    Raises RequestError, which names the field and what it accepts.
    """

    __slots__ = (
        "compute_capability",
        "gpu",
        "dtype",
        "kv_cache_dtype",
        "head_size",
        "block_size",
        "query_heads",
        "topk",
        "mla",
        "sparse",
        "sink",
        "phase",
        "features",
        "libraries",
        "model",
        "tensor_parallel",
        "_filled",
    )

    compute_capability: Capability | None
    gpu: str | None
    dtype: str | None
    kv_cache_dtype: str | None
    head_size: int | None
    block_size: int | None
    query_heads: int | None
    topk: int | None
    mla: bool | None
    sparse: bool | None
    sink: bool | None
    phase: str
    features: tuple[str, ...]
    libraries: tuple[tuple[str, Version | Absent], ...]
    model: str | None
    tensor_parallel: int | None
    _filled: tuple[str, ...]

    def __init__(
        self,
        *,
        compute_capability: Any = None,
        gpu: str | None = None,
        dtype: Any = None,
        kv_cache_dtype: str | None = None,
        head_size: int | None = None,
        block_size: int | None = None,
        query_heads: int | None = None,
        topk: int | None = None,
        mla: bool | None = None,
        sparse: bool | None = None,
        sink: bool | None = None,
        phase: str = "decode",
        features: Iterable[str] = (),
        libraries: Mapping[str, str | Absent] | None = None,
        model: str | None = None,
        tensor_parallel: int | None = None,
        matrix: str = BUILT_IN,
    ) -> None:
        put = object.__setattr__
        put(self, "gpu", None)
        put(self, "compute_capability", self._capability(compute_capability, gpu, matrix))
        put(self, "dtype", None if dtype is None else _dtype_name(dtype))
        if kv_cache_dtype is not None and not (isinstance(kv_cache_dtype, str) and kv_cache_dtype):
            raise RequestError(
                "kv_cache_dtype", f"{kv_cache_dtype!r} is not a name, such as 'auto'"
            )
        put(self, "kv_cache_dtype", kv_cache_dtype)
        for field, number in (
            ("head_size", head_size),
            ("block_size", block_size),
            ("query_heads", query_heads),
            ("topk", topk),
        ):
            if number is not None and (type(number) is not int or number < 1):
                raise RequestError(field, sentence("not_whole", value=repr(number)))
            put(self, field, number)
        for field, flag in (("mla", mla), ("sparse", sparse), ("sink", sink)):
            if flag is not None and type(flag) is not bool:
                raise RequestError(field, f"{flag!r} is neither True, False nor None")
            put(self, field, flag)
        if phase not in PHASES:
            raise RequestError("phase", _not_one_of(phase, PHASES))
        put(self, "phase", phase)
        put(self, "features", _feature_names(features))
        put(self, "libraries", _library_versions(libraries or {}, matrix))
        put(self, "model", None)
        put(self, "tensor_parallel", tensor_parallel)
        put(self, "_filled", ())
        if model is not None:
            self._fill(model, matrix)
        elif tensor_parallel is not None:
            raise RequestError("tensor_parallel", "it shares the heads of a model: name one")

    def _fill(self, model: str, matrix: str) -> None:
        """What the model asks, where nothing else is named."""
        from .models import get_model

        found = get_model(model, matrix)
        object.__setattr__(self, "model", found.name)
        asked = {name: getattr(found, name) for name in OF_A_MODEL}
        asked["query_heads"] = found.heads_per_gpu(
            1 if self.tensor_parallel is None else self.tensor_parallel
        )
        filled = [name for name in asked if getattr(self, name) is None]
        for name in filled:
            object.__setattr__(self, name, asked[name])
        object.__setattr__(self, "_filled", tuple(filled))

    def _capability(
        self, compute_capability: Any, gpu: str | None, matrix: str
    ) -> Capability | None:
        named: Capability | None = None
        if compute_capability is not None:
            try:
                named = parse_capability(compute_capability)
            except ValueError as error:
                raise RequestError("compute_capability", str(error)) from None
        if gpu is None:
            return named
        from .gpus import gpu_capability

        name, capability = gpu_capability(gpu, matrix)
        if named is not None and named != capability:
            raise RequestError(
                "compute_capability",
                f"{compute_capability!r} is not that of {name}; leave one of the two out",
            )
        object.__setattr__(self, "gpu", name)
        return capability

    def replace(self, **changes: Any) -> Request:
        """A new request with some fields changed; this one stays as it is."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "_filled"}
        fields.update(dict.fromkeys(self._filled))
        fields["libraries"] = {
            name: version.text if isinstance(version, Version) else version
            for name, version in self.libraries
        }
        if "compute_capability" in changes:
            fields["gpu"] = None
        if "gpu" in changes or fields["gpu"] is not None:
            fields["compute_capability"] = None
        return Request(**{**fields, **changes})

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Request is frozen; use replace({name}=...)")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (tuple(getattr(self, name) for name in self.__slots__),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Request) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __repr__(self) -> str:
        shown = [
            f"{name}={getattr(self, name)!r}"
            for name in self.__slots__
            if name not in ("_filled", *self._filled)
            and getattr(self, name) not in (None, ())
            and (name, self.phase) != ("phase", "decode")
        ]
        return f"Request({', '.join(shown)})"


def asked(request: Request | None, fields: Mapping[str, Any]) -> Request:
    """The request that a caller passed whole, or by its fields. Raises TypeError for both."""
    if request is None:
        return Request(**fields)
    if fields:
        raise TypeError(f"pass a Request or its fields ({', '.join(fields)}), not both")
    return request


def _restored(values: tuple[Any, ...]) -> Request:
    """A copied or unpickled request; its values were checked when it was made."""
    request = Request()
    for name, value in zip(Request.__slots__, values, strict=True):
        object.__setattr__(request, name, value)
    return request


def _not_one_of(value: object, known: Iterable[str]) -> str:
    hint = did_you_mean(str(value), known)
    return sentence("not_one_of", value=repr(value), known=", ".join(known), hint=hint)


def _dtype_name(dtype: Any) -> str:
    name = str(dtype).removeprefix("torch.")
    if not name.isidentifier():
        raise RequestError("dtype", sentence("not_a_dtype", value=repr(name)))
    return DTYPE_SPELLINGS.get(name.lower(), name)


def _feature_names(features: Iterable[str]) -> tuple[str, ...]:
    try:
        names = (features,) if isinstance(features, str) else tuple(features)
    except TypeError:
        raise RequestError("features", f"{features!r} is not a list of names") from None
    for name in names:
        if name not in FEATURES:
            raise RequestError("features", _not_one_of(name, FEATURES))
    return tuple(sorted(set(names)))


def _library_versions(
    libraries: Mapping[str, str | Absent], matrix: str
) -> tuple[tuple[str, Version | Absent], ...]:
    if not libraries:
        return ()
    if not hasattr(libraries, "items"):
        raise RequestError(
            "libraries", f"{libraries!r} is not a mapping, such as {{'vllm': '0.33.0'}}"
        )
    known = known_distributions(matrix)
    found: list[tuple[str, Version | Absent]] = []
    for name, version in libraries.items():
        distribution = normalize(str(name))
        if distribution in dict(found):
            raise RequestError("libraries", f"{distribution} is named twice: name one version")
        if distribution not in known:
            raise RequestError(
                "libraries",
                sentence(
                    "no_provider",
                    value=repr(name),
                    hint=did_you_mean(distribution, known),
                    known=", ".join(sorted(known)),
                ),
            )
        if isinstance(version, Absent):
            found.append((distribution, version))
            continue
        try:
            found.append((distribution, parse_version(version)))
        except (ValueError, TypeError, AttributeError):
            message = sentence("not_a_version", name=name, value=repr(version))
            raise RequestError("libraries", message) from None
    return tuple(sorted(found, key=lambda item: item[0]))
