"""The grammar of capabilities.yaml, as pydantic models. Names are resolved later, in `matrix`.

Field descriptions go into the JSON Schema that editors show.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from attnmatrix.capability import CapabilityPattern
from attnmatrix.intset import IntSet
from attnmatrix.kv_format import BITS, PER_TENSOR

from .axes import (
    BOUNDED_FORM,
    DTYPES,
    INT_FORMS,
    NUMBERS_FORM,
    CapabilityAxis,
    DtypeAxis,
    FeatureAxis,
    IntAxis,
    NameAxis,
    VersionAxis,
    int_axis,
    invalid,
)
from .case_schema import Difference, KernelException
from .model_schema import Engine, LanguageModel
from .reason_texts import ABOUT
from .scalars import (
    MODEL_DTYPE,
    Count,
    EntryName,
    Line,
    Model,
    Name,
    Notes,
    Sources,
    Text,
    Unique,
    backend_name,
    established,
    flag_or_any,
    gpu_name,
    one_capability,
    positive_number,
    sizes,
    sizes_or_any,
)


class Provider(Model):
    """How one distribution ships a library."""

    module: Name | None = Field(None, description="The module to import.")
    ops: Line | None = Field(None, description="The torch.ops namespace that it registers.")


class Library(Model):
    """A kernel library."""

    title: Line = Field(description="Its name in prose.")
    homepage: Line = Field(description="owner/name of its repository.")
    providers: dict[Name, Provider] = Field(
        description="The distributions that ship it; a row's versions are theirs."
    )


class Part(Model):
    """Consecutive elements of one dtype in a token's record."""

    part: Name = Field(description="Its name within the format.")
    dtype: Literal[tuple(BITS)] = Field(description="Storage dtype.")  # type: ignore[valid-type]
    count: int = Field(gt=0, description="Number of elements (not bytes).")
    scaled_by: Name | None = Field(
        None,
        description=f"The part that holds its scales, or {PER_TENSOR}: one float32 kept outside.",
    )
    group: int | None = Field(None, gt=0, description="Consecutive elements that share a scale.")
    transposed: list[Count] | None = Field(
        None,
        min_length=2,
        max_length=2,
        description="[rows, columns]: the elements form a matrix that is stored transposed.",
    )
    amax_floor: Annotated[str, AfterValidator(positive_number)] | None = Field(
        None,
        description="Of a scale part: the least magnitude a packer assumes for a group, quoted.",
    )
    power_of_two: bool = Field(
        False,
        description="Of a scale part: packers round scales up to powers of two, since some readers "
        "take the exponent alone.",
    )


class Page(Model):
    """How a page arranges its tokens."""

    arrangement: Literal["token_by_token", "data_then_scales"] = Field(
        description="Whether scales follow each token's data, or all data rows of the page."
    )
    round_up_to: int = Field(gt=0, description="A page is a multiple of so many bytes.")


class KVFormat(Model):
    """The bytes of one token's record, and of a page."""

    title: Line = Field(description="Its name in prose.")
    head_size: int = Field(gt=0, description="Semantic elements, not bytes.")
    bytes_per_token: int = Field(gt=0, description="Stored bytes; must equal the sum of the parts.")
    data: list[Part] = Field(min_length=1, description="The data row's parts, in stored order.")
    scales: list[Part] = Field(description="The scale row's parts, in stored order; may be empty.")
    page: Page
    notes: Notes = []
    sources: Sources


_ROW_AXES = "Every axis is written in every row; any and unknown are values."


class Row(Model):
    """One region that a kernel takes."""

    compute_capability: CapabilityAxis = Field(description="GPUs; the most specific row rules.")
    versions: VersionAxis = Field(
        description="For each provider: a PEP 440 specifier, any, none (not in it) or unknown."
    )
    kv_formats: NameAxis = Field(description="Formats of the main cache.")
    extra_kv_formats: NameAxis = Field(
        (), description="Formats of the extra pool, where they may differ from the main cache's."
    )
    dtypes: DtypeAxis = Field(description="Query dtypes.")
    head_sizes: IntAxis = Field(description="Elements a query head.")
    query_heads: IntAxis = Field(description="Query heads that the kernel is called with.")
    page_sizes: IntAxis = Field(description="Tokens a page.")
    topk: IntAxis = Field(description="Indices a query selects; none for a dense kernel.")
    features: FeatureAxis = Field(description="Supported features; NAME: unknown if untried.")
    refuses: Line | None = Field(
        None, description="The row is known not to work, and why. It explains, and takes nothing."
    )
    notes: Notes = []
    sources: Sources


class Kernel(Model):
    """One callable of one library."""

    title: Line = Field(description="Its name in prose.")
    library: Name = Field(description="The library that has it.")
    adapter: Annotated[str, Field(pattern=r"^(none|\w+:\w+)$")] = Field(
        description="module:class under attnmatrix.kernels that calls it; none if there is none."
    )
    phase: Literal["decode", "prefill"] = Field(description="What it computes.")
    rows: list[Row] = Field(min_length=1, description=_ROW_AXES)
    exceptions: list[KernelException] = Field(
        [], description="Right by evidence, but unclaimed on purpose."
    )
    notes: Notes = []


_FORMAT = "The KV format that the cache holds; none, without a kernel: not described."
_EXTRA_FORMAT = "The extra pool's, where it differs."
_QUERY_DTYPE = "What the engine casts queries to before the kernel, if it does."
_MODEL_DTYPES = "The model dtypes that may use it; by default the variant's."


ModelDtypes = Annotated[list[Literal[DTYPES]], Field(min_length=1), Unique]  # type: ignore[valid-type]


class Stored(Model):
    """A KV-cache dtype with a format of its own."""

    format: Name = Field(description=_FORMAT)
    extra_format: Name | None = Field(None, description=_EXTRA_FORMAT)
    query_dtype: Literal[DTYPES] | None = Field(  # type: ignore[valid-type]
        None, description=_QUERY_DTYPE
    )
    dtypes: ModelDtypes | None = Field(None, description=_MODEL_DTYPES)


class Padding(Model):
    """Head counts that an engine pads up to."""

    pad_to: list[Count] = Field(min_length=1, description="The counts the kernel is called with.")


def _query_heads(value: Any) -> Any:
    if isinstance(value, dict) and "pad_to" in value:
        return Padding.model_validate(value)
    return int_axis(value)


QueryHeads = Annotated[
    Any,
    BeforeValidator(_query_heads),
    WithJsonSchema(
        {
            "anyOf": [
                {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["pad_to"],
                    "properties": {
                        "pad_to": {
                            "type": "array",
                            "items": {"type": "integer", "minimum": 1},
                            "minItems": 1,
                            "description": "The counts the kernel is called with.",
                        }
                    },
                },
                *INT_FORMS,
            ]
        }
    ),
]


def _kv_cache_dtype(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return Stored.model_validate(value)
    raise invalid(f"{value!r} is neither an alias nor {{format: NAME}}")


KVCacheDtype = Annotated[
    Any,
    BeforeValidator(_kv_cache_dtype),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "description": "An alias of another KV-cache dtype."},
                {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["format"],
                    "properties": {
                        "format": {"type": "string", "description": _FORMAT},
                        "extra_format": {"type": "string", "description": _EXTRA_FORMAT},
                        "query_dtype": {"enum": list(DTYPES), "description": _QUERY_DTYPE},
                        "dtypes": {
                            "type": "array",
                            "items": {"enum": list(DTYPES)},
                            "minItems": 1,
                            "uniqueItems": True,
                            "description": _MODEL_DTYPES,
                        },
                    },
                },
            ]
        }
    ),
]


class Kernels(Model):
    """The kernels that a variant calls."""

    decode: Name = Field(description="A kernel, or none where the matrix has no adapter for it.")
    prefill: Name | None = Field(None, description="A kernel for prefill, if it has its own.")
    prefill_format: Name | None = Field(
        None,
        description="The format that prefill reads, where the engine first gathers and unpacks the "
        "cache into a workspace.",
    )


HeadSizes = Annotated[
    Any, BeforeValidator(sizes), WithJsonSchema({"anyOf": [BOUNDED_FORM, NUMBERS_FORM]})
]
HeadSizesOrAny = Annotated[
    Any,
    BeforeValidator(sizes_or_any),
    WithJsonSchema({"anyOf": [{"const": "any"}, BOUNDED_FORM, NUMBERS_FORM]}),
]


class Variant(Model):
    """A backend on some GPUs. One KV-cache dtype has one meaning on one GPU."""

    compute_capability: CapabilityAxis = Field(description="The GPUs.")
    kernels: Kernels
    block_sizes: IntAxis = Field(
        description="Tokens a block, as a user configures it; any: what the kernel takes."
    )
    page_size: int | None = Field(
        None, gt=0, description="Tokens a page for the kernel, where the engine cuts its blocks."
    )
    query_heads: QueryHeads = Field(
        description="Heads on one GPU; any: what the kernel takes; or {pad_to: [...]}."
    )
    kv_cache_dtypes: dict[EntryName, KVCacheDtype] = Field(
        min_length=1,
        description=f"{{format: NAME}}, or the name it is an alias of; {MODEL_DTYPE} follows the "
        "model's dtype.",
    )
    dtypes: ModelDtypes | None = Field(None, description="Narrows the backend's dtypes.")
    head_sizes: HeadSizes | None = Field(None, description="Narrows the backend's head sizes.")
    features: Annotated[list[str], Unique] | None = Field(
        None, description="Narrows the backend's features."
    )
    notes: Notes = []


Flag = Annotated[
    bool | str,
    BeforeValidator(flag_or_any),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"const": "any"}]}),
]


class Backend(Model):
    """What an engine names and a user picks."""

    summary: Line = Field(description="What it is, in one line without a full stop.")
    mla: Flag = Field(description="Multi-head latent attention; any for both.")
    sparse: Flag = Field(description="Attention to top-k selected tokens; any for both.")
    dtypes: ModelDtypes = Field(description="Model dtypes.")
    head_sizes: HeadSizesOrAny = Field(description="Elements a query head; any for all.")
    features: Annotated[list[str], Unique] = Field(
        description="Features that the backend passes on. Where no kernel is named, those not "
        "listed are unknown, but for attention_sink."
    )
    variants: list[Variant] = Field(min_length=1, description="What it claims, by GPU.")
    engines: VersionAxis = Field(
        {}, description="Engine releases that have the backend: a specifier by distribution."
    )
    notes: Notes = []
    differs: list[Difference] = Field(
        [], description="Where it differs from an engine's own declaration on purpose."
    )
    sources: Sources


class When(Model):
    """What a priority is for; what is left out is not asked."""

    mla: bool | None = Field(None, description="Multi-head latent attention.")
    sparse: bool | None = Field(None, description="Attention to top-k selected tokens.")
    compute_capability: CapabilityAxis | None = Field(None, description="The GPUs.")
    head_size: Count | None = Field(None, description="Elements a query head.")
    query_heads: Annotated[IntAxis | None, AfterValidator(established)] = Field(
        None, description="Heads on one GPU."
    )
    kv_cache_dtype: list[str] | None = Field(None, description="What the user asks for.")
    sink: bool | None = Field(None, description="Whether the model has an attention sink.")


class Priority(Model):
    """Backends in the order in which they are tried."""

    when: When
    order: list[Name] = Field(min_length=1, description="The first supported one is selected.")
    notes: Notes = []
    sources: Sources


class LibraryError(Model):
    """An error that people meet and paste: the library's own words."""

    says: Line = Field(description="Its words as printed; … for what varies.")
    by: Name = Field(description="The kernel, the backend or the distribution that says so.")
    field: Literal[tuple(ABOUT)] = Field(  # type: ignore[valid-type]
        description="The field of a request that it is about."
    )
    means: Text = Field(description="What is wrong, and what to do.")
    sources: Sources


class Document(Model):
    """capabilities.yaml: what each attention backend supports, and where that can be read."""

    gpus: dict[
        Annotated[str, AfterValidator(gpu_name)], Annotated[str, BeforeValidator(one_capability)]
    ] = Field({}, description="GPU names that people type, each with its compute capability.")
    libraries: dict[EntryName, Library] = Field(description="Kernel libraries, by name.")
    kv_formats: dict[EntryName, KVFormat] = Field(description="KV formats, by name.")
    kernels: dict[EntryName, Kernel] = Field(description="Kernels, by name.")
    backends: dict[Annotated[str, AfterValidator(backend_name)], Backend] = Field(
        description="Backends, by the name that an engine gives them."
    )
    engines: dict[EntryName, Engine] = Field(
        {}, description="How a choice is typed for an engine, by its distribution's name."
    )
    models: dict[EntryName, LanguageModel] = Field(
        {}, description="Models, by the name that people type: what a request for one asks."
    )
    priorities: list[Priority] = Field(
        [], description="Which backends are tried in which order; the first that fits is followed."
    )
    errors: list[LibraryError] = Field(
        [], description="Errors in the libraries' own words, each once, with what it means."
    )


__all__ = ["CapabilityPattern", "Document", "IntSet", "Model"]
