"""FlashInfer's paged MLA wrapper (fa3, fa2): dense decode, causal multi-token decode, and sparse.

    >>> decode = BatchMLA()
    >>> decode.plan(kv_format=get_kv_format("bf16_576"), page_size=64, query_heads=128,
    ...             head_size=576, value_size=512, batch=32, q_len=1, device="cuda",
    ...             block_table=table, cache_seqlens=lengths)
    >>> out, lse = decode.run(q, kv_cache)

FlashInfer builds its kernels at the first plan of each kind, which takes a compiler and a minute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from .bounds import debug_wanted, require_slots, require_tables
from .checks import require_finite, require_int
from .errors import KernelError
from .flashinfer_tables import Table, dense_table, sparse_table
from .launch import require_planned, require_sizes, resolve_device, unplanned
from .providers import find_flashinfer
from .rows import Call, capability_of, find_row
from .views import CacheViews, plain_view

if TYPE_CHECKING:
    from attnmatrix.kv_format import KVFormat

WORKSPACE_BYTES = 128 << 20
_DTYPES = {
    "bfloat16": ("bfloat16", torch.bfloat16, torch.bfloat16),
    "float16": ("float16", torch.float16, torch.float16),
    "float8_e4m3fn": ("bfloat16", torch.bfloat16, torch.float8_e4m3fn),
}
"""By stored dtype: the query dtype's name and dtype, and the cache's dtype."""


class _Plan(NamedTuple):
    device: torch.device
    dtype: torch.dtype
    shape: torch.Size
    q_rows: tuple[int, ...]
    out_rows: tuple[int, ...]
    lse_shape: tuple[int, ...]
    fp8: bool
    topk: int | None
    debug: bool
    cache: CacheViews
    table: Table
    hot: tuple[Any, ...]
    """What every run reads, together."""


class BatchMLA:
    """Decode over plain rows. `plan` takes the tables too: FlashInfer schedules on the host.

    So a plan waits for the GPU; a run does not. With cuda_graph, a later plan of the same shapes
    writes to the buffers that the captured runs read, and a replay follows it, up to twice as many
    pages as at first; without it, replay a graph only until the next plan.
    """

    kernel = "flashinfer.batch_mla"

    def __init__(self, workspace: Tensor | None = None) -> None:
        """workspace: uint8 on the GPU, for partial results; None allocates 128 MiB at a plan."""
        self._mla, self.version = find_flashinfer()
        self._workspace = workspace
        self._wrapper: Any = None
        self._wrapper_key: tuple[Any, ...] | None = None
        self._buffers: Table | None = None
        self._plan: _Plan | None = None

    @property
    def provider(self) -> str:
        """The distribution and version in use."""
        return f"flashinfer-python=={self.version}"

    @property
    def table(self) -> Tensor | None:
        """Sparse: the indices that runs read, int32, each query's one after another. Writing here
        in place of passing `indices` saves the copy."""
        return None if self._plan is None else self._plan.table.pages

    def plan(
        self,
        *,
        kv_format: KVFormat,
        page_size: int,
        query_heads: int,
        head_size: int,
        value_size: int = 512,
        topk: int | None = None,
        batch: int,
        q_len: int = 1,
        causal: bool = False,
        softmax_scale: float | None = None,
        block_table: Tensor | None = None,
        cache_seqlens: Tensor | None = None,
        indices: Tensor | None = None,
        topk_length: Tensor | None = None,
        device: torch.device | str = "cuda",
        backend: str | None = None,
        lse: bool = True,
        cuda_graph: bool = False,
        debug: bool | None = None,
        untested: bool = False,
    ) -> None:
        """Fix what the runs to come have in common, tables and lengths included.

        Dense: block_table int32 [batch, blocks], cache_seqlens int32 [batch]. Sparse: indices int32
        [batch, q_len, topk], slots; topk_length int32 [batch], how many leading ones count (None:
        all). -1 is no index here: let the length end before it. backend: "fa3" or "fa2"; None
        is fa3 on 9.0, else fa2. Raises KernelError.
        """
        device = resolve_device(device)
        latent = kv_format.values[0].count
        require_sizes(kv_format, head_size, value_size, latent)
        if topk is not None and causal:
            raise KernelError("causal", causal, "False with topk", "select visible slots only")
        stored = kv_format.values[0].dtype
        name, dtype, kv_dtype = _DTYPES.get(stored, (stored, torch.bfloat16, torch.bfloat16))
        capability = capability_of(device)
        call = Call(
            capability,
            ("flashinfer-python", self.version),
            kv_format.name,
            name,
            head_size,
            require_int("page_size", page_size),
            require_int("query_heads", query_heads),
            topk,
            features=("causal",) if causal else (),
        )
        find_row(self.kernel, call, untested=untested)
        if not hasattr(self._mla, "MLAPlanMetadata"):
            raise KernelError(
                "provider", self.provider, "flashinfer-python>=0.7.0 for this adapter"
            )
        backend = backend or default_backend(capability)
        if backend not in ("fa2", "fa3"):
            raise KernelError("backend", backend, ("fa2", "fa3"))
        shape = torch.Size((require_int("batch", batch), require_int("q_len", q_len), query_heads))
        wanted = debug_wanted(debug)
        if topk is None:
            table = dense_table(device, shape, page_size, block_table, cache_seqlens)
        else:
            table = sparse_table(device, shape, topk, indices, topk_length)
        if cuda_graph:
            table = self._reserve(table, page_size, topk, backend)
        else:
            self._prepare(None, device, backend)
        tokens = batch * q_len
        scale = head_size**-0.5 if softmax_scale is None else softmax_scale
        try:
            self._wrapper.plan(
                metadata=self._mla.MLAPlanMetadata.csr(
                    table.q_starts, table.page_starts, table.pages, table.lengths
                ),
                num_heads=query_heads,
                head_dim_ckv=latent,
                head_dim_kpe=head_size - latent,
                page_size=page_size if topk is None else 1,
                causal=causal,
                sm_scale=require_finite("softmax_scale", scale),
                q_data_type=dtype,
                kv_data_type=kv_dtype,
                lse_mode="basee" if lse else "none",
            )
        except ValueError as error:
            raise KernelError("plan", "refused by FlashInfer", str(error)) from error
        make = plain_view(kv_format, page_size, "kv_cache", device)
        views = CacheViews(make if topk is None else lambda cache: _as_slots(make(cache)))
        fp8 = stored == "float8_e4m3fn"
        self._plan = _Plan(
            device,
            dtype,
            torch.Size((*shape, head_size)),
            (tokens, query_heads, head_size),
            (tokens, query_heads, latent),
            tuple(shape),
            fp8,
            topk,
            wanted,
            views,
            table,
            (self._wrapper.run, views.found, lse, not fp8 and not wanted),
        )
        if wanted:
            self._tables = (block_table, cache_seqlens)

    def run(
        self,
        q: Tensor,
        kv_cache: Tensor,
        *,
        indices: Tensor | None = None,
        tensor_scale: float | Tensor | None = None,
        out: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Attention of q [batch, q_len, query_heads, head_size] over a cache of plain rows.

        kv_cache: uint8 [num_pages, page_bytes]. indices: this layer's, of the planned lengths; they
        are copied to `table` by one small kernel. tensor_scale: of an e4m3 cache, a number; None
        is 1. Returns out, and lse float32 [batch, query_heads, q_len] (None if planned without), a
        view whose memory is [batch, q_len, query_heads]: natural. A row without keys has out 0 and,
        unlike FlashMLA's, lse -inf. With q and out of [tokens, query_heads, size], as FlashInfer
        has them, lse is [tokens, query_heads], and the host makes no views.
        """
        plan = self._plan
        if plan is None:
            raise unplanned()
        run, views, with_lse, plain = plan.hot
        query, rows = q, out
        flat = q.dim() == 3
        if not flat:
            try:
                query = q.view(plan.q_rows)
                rows = None if out is None else out.view(plan.out_rows)
            except (RuntimeError, AttributeError):
                self._check(plan, q, out)
                raise
        cache = views.get(id(kv_cache))
        if cache is None:
            cache = plan.cache(kv_cache)
        if indices is not None:
            self._set_indices(plan, indices)
        scales: dict[str, Any] = {}
        if not plain or tensor_scale is not None:
            scales = self._scales(plan, tensor_scale)
            if plan.debug:
                self._debug(plan, cache)
        try:
            found = run(
                query=query,
                kv_cache=cache,
                out=rows,
                return_lse=with_lse,
                return_lse_base_on_e=with_lse,
                **scales,
            )
        except Exception:
            self._check(plan, q, out)
            raise
        if flat:
            return found if with_lse else (found, None)
        written, lse = found if with_lse else (found, None)
        if lse is not None:
            lse = lse.view(plan.lse_shape).mT
        return (written.view(*plan.lse_shape, -1) if out is None else out), lse

    def _scales(self, plan: _Plan, tensor_scale: float | Tensor | None) -> dict[str, Any]:
        """The wrapper's own arguments of an e4m3 cache's scale."""
        if not plan.fp8:
            if tensor_scale is not None:
                raise KernelError("tensor_scale", tensor_scale, "None: the format has no scale")
            return {}
        if isinstance(tensor_scale, Tensor):
            raise KernelError("tensor_scale", "a tensor", "a number: reading one would wait")
        scale = 1.0 if tensor_scale is None else tensor_scale
        return {"ckv_scale": scale, "kpe_scale": scale}

    def _set_indices(self, plan: _Plan, indices: Tensor) -> None:
        if plan.topk is None:
            raise KernelError("indices", "given", "None: the plan is dense")
        wanted = (*plan.shape[:2], plan.topk)
        if indices.shape != wanted or indices.dtype != torch.int32:
            require_planned("indices", indices, torch.int32, wanted, plan.device)
        table = plan.table
        if table.positions is None:
            table.pages.copy_(indices.view(-1))
        else:
            torch.index_select(indices.view(-1), 0, table.positions, out=table.pages)

    def _debug(self, plan: _Plan, cache: Tensor) -> None:
        if plan.topk is not None:
            pages = plan.table.pages
            require_slots("indices", pages, cache.shape[0])
            if bool((pages < 0).any()):
                raise KernelError(
                    "indices", -1, "slots: no index is masked here", "cut topk_length"
                )
            return
        block_table, lengths = self._tables
        if block_table is not None and lengths is not None:
            require_tables(block_table, lengths, cache.shape[0], cache.shape[1])

    def _check(self, plan: _Plan, q: Tensor, out: Tensor | None) -> None:
        flat = isinstance(q, Tensor) and q.dim() == 3
        require_planned("q", q, plan.dtype, (plan.q_rows if flat else plan.shape), plan.device)
        if out is not None:
            shape = plan.out_rows if flat else (*plan.shape[:3], plan.out_rows[2])
            require_planned("out", out, plan.dtype, shape, plan.device)

    def _prepare(self, buffers: Table | None, device: torch.device, *key: Any) -> None:
        """A wrapper for this key: the one at hand, or a new one around `buffers`."""
        if self._wrapper_key == (buffers is None, device, key):
            return
        if self._workspace is None or self._workspace.device != device:
            self._workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=device)
        names = ("qo_indptr", "kv_indptr", "kv_indices", "kv_len_arr")
        reserved = {} if buffers is None else dict(zip(names, buffers[:4], strict=True))
        self._wrapper = self._mla.BatchMLAPagedAttentionWrapper(
            self._workspace, use_cuda_graph=buffers is not None, backend=key[0], **reserved
        )
        self._wrapper_key = (buffers is None, device, key)

    def _reserve(self, table: Table, page_size: int, topk: int | None, backend: str) -> Table:
        """The table in buffers that stay where they are from plan to plan."""
        device = table.q_starts.device
        key = (backend, tuple(table.q_starts.shape), topk, page_size)
        buffers = self._buffers
        fits = buffers is not None and buffers.pages.shape[0] >= table.pages.shape[0]
        if not fits or self._wrapper_key != (False, device, key):
            spare = table.pages.new_zeros(max(1, 2 * table.pages.shape[0]))
            self._buffers = Table(
                table.q_starts.clone(),
                table.page_starts.clone(),
                spare,
                table.lengths.clone(),
                None,
            )
            self._wrapper_key = None
        self._prepare(self._buffers, device, *key)
        assert self._buffers is not None
        count = table.pages.shape[0]
        self._buffers.pages[:count].copy_(table.pages)
        return table._replace(pages=self._buffers.pages[:count])


def default_backend(capability: tuple[int, int]) -> str:
    """The wrapper's backend on GPUs of a compute capability."""
    return "fa3" if capability == (9, 0) else "fa2"


def _as_slots(pages: Tensor) -> Tensor:
    """Pages of one token each."""
    if pages.shape[0] > 1 and pages.stride(0) != pages.shape[1] * pages.stride(1):
        raise KernelError("kv_cache", "pages apart", "pages one after another for sparse attention")
    return pages.reshape(-1, 1, pages.shape[2])
