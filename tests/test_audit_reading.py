"""Each construct met in the wild, in a made-up engine: what is read of it, and what is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attnmatrix.audit.reading import Reading, read_release
from tests.audit.engine import files_of, write_tree, write_wheel

IMPORTS = """
from vllm.platforms import current_platform
from vllm.v1.attention.backend import AttentionBackend, MultipleOf
import torch
"""


def read(
    tmp_path: Path, body: str, files: dict[str, str] | None = None, name: str = "ONE"
) -> Reading:
    """Reads an engine whose only backend is `Backend` in a module with this body."""
    from textwrap import dedent

    backend = {"vllm/one.py": IMPORTS + dedent(body)}
    tree = files_of({name: "one.Backend"}, {**backend, **(files or {})})
    return read_release("vllm", str(write_wheel(tmp_path / "vllm-1.2.3-py3-none-any.whl", tree)))


def cell(tmp_path: Path, field: str, body: str, files: dict[str, str] | None = None) -> Any:
    return read(tmp_path, body, files).declared["ONE"][field]


LISTS = {
    "a list": ("supported_kv_cache_dtypes = ['auto', 'fp8']", ["auto", "fp8"]),
    "inherited": ("", ["auto", "bfloat16"]),
    "a longer list": (
        "supported_kv_cache_dtypes = AttentionBackend.supported_kv_cache_dtypes + ['fp8']",
        ["auto", "bfloat16", "fp8"],
    ),
    "unpacked": ("supported_kv_cache_dtypes = ['auto', *FP8]", ["auto", "fp8", "fp8_e4m3"]),
    "a module's constant": ("supported_kv_cache_dtypes = list(FP8)", ["fp8", "fp8_e4m3"]),
    "a comprehension": (
        "supported_kv_cache_dtypes = [name for name in FP8 if '_' in name]",
        ["fp8_e4m3"],
    ),
    "a helper elsewhere": ("supported_kv_cache_dtypes = without_aliases(FP8)", ["fp8_e4m3"]),
    "a method, not the list": (
        """
    @classmethod
    def supports_kv_cache_dtype(cls, kv_cache_dtype):
        return kv_cache_dtype.startswith('fp8')""",
        ["fp8", "fp8_e4m3"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), LISTS.values(), ids=LISTS)
def test_lists_are_read_however_they_are_built(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    body = "from vllm.helpers import without_aliases\nFP8 = ('fp8', 'fp8_e4m3')\n"
    body += f"class Backend(AttentionBackend):\n    NAME = 'ONE'\n    {text}\n"
    helpers = {
        "vllm/helpers.py": "import numba\n\n"
        "def without_aliases(names):\n    return [n for n in names if n != 'fp8']\n"
    }
    assert cell(tmp_path, "kv_cache_dtypes", body, helpers) == expected


def test_what_a_later_statement_changes_counts(tmp_path: Path) -> None:
    body = """
        NAMES = ['auto']
        NAMES.append('fp8')
        NAMES += ['packed']

        class Backend(AttentionBackend):
            supported_kv_cache_dtypes = NAMES
        """
    assert cell(tmp_path, "kv_cache_dtypes", body) == ["auto", "fp8", "packed"]


def test_inheritance_across_files_aliases_and_relative_imports(tmp_path: Path) -> None:
    files = {
        "vllm/deep/__init__.py": "from .common import *\n",
        "vllm/deep/common.py": "from vllm.v1.attention.backend import AttentionBackend as Root\n\n"
        "class Common(Root):\n    @classmethod\n    def is_mla(cls):\n        return True\n\n"
        "    @classmethod\n    def get_supported_head_sizes(cls):\n        return [576, 512]\n",
        "vllm/deep/mine.py": "from .common import *\n\nBase = Common\n\n"
        "class Middle(Base):\n    supported_dtypes = Base.supported_dtypes[1:]\n",
    }
    body = """
        from vllm.deep.mine import Middle

        class Backend(Middle):
            pass
        """
    row = read(tmp_path, body, files).declared["ONE"]
    assert row["mla"] is True
    assert row["head_sizes"] == [576, 512]
    assert row["dtypes"] == ["bfloat16"]


def test_answers_that_depend_on_the_gpu_stand_by_compute_capability(tmp_path: Path) -> None:
    body = """
        class Backend(AttentionBackend):
            @staticmethod
            def get_supported_kernel_block_sizes():
                return [64 if current_platform.is_family(90) else MultipleOf(128)]

            @classmethod
            def supports_compute_capability(cls, capability):
                return capability.major in (9, 10) or capability == (12, 1)
        """
    row = read(tmp_path, body).declared["ONE"]
    assert set(row["block_sizes"]) == set("7.5 8.0 8.6 8.9 9.0 10.0 10.3 11.0 12.0 12.1".split())
    assert row["block_sizes"]["9.0"] == [64]
    assert row["block_sizes"]["10.0"] == ["%128"]
    assert row["compute_capabilities"] == ["9.0", "10.0", "10.3", "12.1"]


def test_a_module_that_branches_on_the_platform_is_run_for_each_gpu(tmp_path: Path) -> None:
    body = """
        if current_platform.is_rocm():
            import aiter
            SINK = aiter.sink
        elif current_platform.has_device_capability(100):
            SINK = True
        else:
            SINK = False

        class Backend(AttentionBackend):
            @classmethod
            def supports_sink(cls):
                return SINK
        """
    sink = cell(tmp_path, "sink", body)
    assert [gpu for gpu, answer in sink.items() if answer] == [
        "10.0",
        "10.3",
        "11.0",
        "12.0",
        "12.1",
    ]


def test_a_factory_makes_the_class(tmp_path: Path) -> None:
    body = """
        class Wide(AttentionBackend):
            supported_kv_cache_dtypes = ['auto', 'fp8', 'packed']

        class Narrow(AttentionBackend):
            supported_kv_cache_dtypes = ['auto', 'fp8']

        def compose(first, second, *, sizes):
            class Composite(AttentionBackend):
                @classmethod
                def supports_kv_cache_dtype(cls, name):
                    return all(b.supports_kv_cache_dtype(name) for b in (first, second))

                @classmethod
                def get_supported_head_sizes(cls):
                    return list(sizes)

            return Composite

        Backend = compose(Wide, Narrow, sizes=(256, 512))
        """
    row = read(tmp_path, body).declared["ONE"]
    assert row["kv_cache_dtypes"] == ["auto", "fp8"]
    assert row["head_sizes"] == [256, 512]


HEADS = {
    "head_size >= 32": [">=32"],
    "head_size % 8 == 0 and head_size <= 256": ["%8,<=256"],
    "head_size in (64, 192)": [64, 192],
    "head_size > 0": [],
    "head_size % 16 == 0 and head_size >= 64": ["%16,>=64"],
    "False": ["none"],
}


@pytest.mark.parametrize(("rule", "expected"), HEADS.items())
def test_head_sizes_that_a_method_decides(tmp_path: Path, rule: str, expected: list[Any]) -> None:
    body = f"""
        class Backend(AttentionBackend):
            @classmethod
            def supports_head_size(cls, head_size):
                return {rule}
        """
    assert cell(tmp_path, "head_sizes", body) == expected


def test_decorators_of_absent_libraries_leave_what_they_decorate(tmp_path: Path) -> None:
    body = """
        import functools
        import lib
        from lib.marks import marked

        @marked
        @lib.register('one', kind=3)
        class Backend(AttentionBackend):
            @classmethod
            @functools.cache
            def is_sparse(cls):
                return helper()

        @lib.jit
        def helper():
            return True
        """
    assert cell(tmp_path, "sparse", body) is True


UNKNOWN = {
    "an absent base class": (
        "import lib\nclass Backend(lib.Base):\n    supported_dtypes = [torch.bfloat16]",
        "a base class that is not here",
    ),
    "a package that may be missing": (
        "try:\n    import lib\n    HAS = True\nexcept ImportError:\n    HAS = False\n"
        "class Backend(AttentionBackend):\n    supports_sink = lambda: HAS",
        "whether lib is installed",
    ),
    "a flag of torch": (
        "class Backend(AttentionBackend):\n    supports_sink = lambda: torch.cuda.is_available()",
        "torch.cuda.is_available()",
    ),
    "a swallowed doubt": (
        "def sink():\n    try:\n        return bool(torch.x)\n    except Exception:\n"
        "        return False\nclass Backend(AttentionBackend):\n    supports_sink = sink",
        "torch.x",
    ),
    "a doubt that a bare except swallows": (
        "def sink():\n    try:\n        return bool(torch.x)\n    except:\n"
        "        return False\nclass Backend(AttentionBackend):\n    supports_sink = sink",
        "does not let on",
    ),
    "a file of the machine": (
        "def sink():\n    with open('/proc/cpuinfo') as f:\n        return 'amx' in f.read()\n"
        "class Backend(AttentionBackend):\n    supports_sink = sink",
        "a file of the machine",
    ),
    "another process": (
        "import os\nclass Backend(AttentionBackend):\n"
        "    supports_sink = lambda: os.system('true') == 0",
        "the machine",
    ),
    "an error": (
        "class Backend(AttentionBackend):\n    supports_sink = lambda: 1 / 0",
        "ZeroDivisionError",
    ),
    "no boolean": ("class Backend(AttentionBackend):\n    supports_sink = lambda: 'yes'", "'yes'"),
}


@pytest.mark.parametrize(("body", "why"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_known_is_null_with_the_reason(tmp_path: Path, body: str, why: str) -> None:
    reading = read(tmp_path, body)
    assert reading.declared["ONE"]["sink"] is None
    assert why in reading.unknown["ONE", "sink"]


def test_what_a_release_requires_is_there(tmp_path: Path) -> None:
    body = """
        import importlib.metadata
        import importlib.util
        import os

        class Backend(AttentionBackend):
            @classmethod
            def supports_sink(cls):
                return importlib.util.find_spec('flashinfer') is not None

            @classmethod
            def is_sparse(cls):
                return importlib.metadata.version('flashinfer-python') == '0.9.1'

            @classmethod
            def is_mla(cls):
                try:
                    import vllm._kernels_C
                    from vllm import _other_C
                except ImportError:
                    return os.path.exists(os.path.join(os.path.dirname(__file__), 'v1'))
                return False
        """
    row = read(tmp_path, body).declared["ONE"]
    assert (row["sink"], row["sparse"], row["mla"]) == (True, True, True)


def test_a_class_with_one_unknown_attribute_keeps_its_others(tmp_path: Path) -> None:
    body = """
        import lib

        class Backend(AttentionBackend):
            flag = not lib.flag()
            supported_kv_cache_dtypes = ['fp8']
        """
    assert cell(tmp_path, "kv_cache_dtypes", body) == ["fp8"]


def test_two_readers_that_differ_are_both_disbelieved(tmp_path: Path) -> None:
    body = """
        class Hook(AttentionBackend):
            def __init_subclass__(cls):
                cls.supported_kv_cache_dtypes = ['packed']

        class Backend(Hook):
            supported_kv_cache_dtypes = ['fp8']
        """
    reading = read(tmp_path, body)
    assert reading.declared["ONE"]["kv_cache_dtypes"] is None
    assert "two readers differ" in reading.unknown["ONE", "kv_cache_dtypes"]


def test_combinations_are_the_engines_own_answers(tmp_path: Path) -> None:
    body = """
        from vllm.config import get_current_vllm_config

        class Backend(AttentionBackend):
            supported_dtypes = [torch.bfloat16]
            supported_kv_cache_dtypes = ['auto', 'fp8']

            @classmethod
            def get_supported_head_sizes(cls):
                return [512, 576]

            @classmethod
            def supports_compute_capability(cls, capability):
                return capability.major == 9

            @classmethod
            def supports_combination(cls, head_size, kv_cache_dtype, device_capability):
                if kv_cache_dtype == 'fp8' and head_size == 512:
                    return 'no fp8 at 512'
                if head_size == 576 and get_current_vllm_config().model_config is not None:
                    return 'the model'
                return torch.version.cuda if kv_cache_dtype == 'auto' == head_size else None
        """
    rows = read(tmp_path, body).combinations["ONE"]
    found = {(r["kv_cache_dtype"], r["head_size"]): (r["reasons"], r["model"]) for r in rows}
    assert {row["compute_capability"] for row in rows} == {"9.0"}
    assert found == {
        ("auto", 512): ([], False),
        ("auto", 576): ([], True),
        ("fp8", 512): (["no fp8 at 512"], False),
        ("fp8", 576): ([], True),
    }


def test_backends_of_another_platform_are_asked_on_it(tmp_path: Path) -> None:
    body = """
        from vllm.platforms.rocm import on_big_chip

        class Backend(AttentionBackend):
            is_sparse = staticmethod(lambda: current_platform.is_rocm())
            supports_sink = staticmethod(lambda: on_big_chip())
        """
    reading = read(tmp_path, body, name="ROCM_ONE")
    assert reading.platforms["ROCM_ONE"] == "rocm"
    assert reading.declared["ROCM_ONE"]["sparse"] is True
    assert reading.declared["ROCM_ONE"]["sink"] is None


def test_places_versions_and_placeholders(tmp_path: Path) -> None:
    files = files_of(
        {"ONE": "one.Backend", "TAG": "", "NOTHING": None, "GONE": "gone.Backend"},
        {"vllm/one.py": IMPORTS + "\n\nclass Backend(AttentionBackend):\n    pass\n"},
    )
    for release in (
        write_wheel(tmp_path / "vllm-1.2.3-py3-none-any.whl", files),
        write_tree(tmp_path / "tree", files),
        tmp_path / "tree" / "vllm",
    ):
        reading = read_release("vllm", str(release))
        assert reading.version == "1.2.3"
        assert reading.places["ONE"] == ("vllm/one.py", 6)
        assert reading.placeholders == ["TAG", "NOTHING"]
        assert set(reading.declared["GONE"].values()) == {None}
        assert "No module named 'vllm.gone'" in reading.unknown["GONE", "sink"]


def test_whether_a_module_is_compiled_is_known_from_files_or_records(tmp_path: Path) -> None:
    body = """
        class Backend(AttentionBackend):
            @classmethod
            def supports_sink(cls):
                try:
                    from . import _kernels_C
                except ImportError:
                    return False
                return True

            @classmethod
            def is_sparse(cls):
                try:
                    import vllm._other_C
                except ImportError:
                    return True
                return False
        """
    from textwrap import dedent

    files = files_of({"ONE": "one.Backend"}, {"vllm/one.py": IMPORTS + dedent(body)})
    wheel = write_wheel(tmp_path / "vllm-1.2.3-py3-none-any.whl", files)
    record = {"vllm-1.2.3.dist-info/RECORD": "vllm/_kernels_C.abi3.so,sha256=x,4\n"}
    unpacked = write_tree(tmp_path / "unpacked", {**files, **record})
    checkout = write_tree(tmp_path / "checkout", files)
    for release, expected in ((wheel, True), (unpacked, True), (checkout, None)):
        row = read_release("vllm", str(release)).declared["ONE"]
        assert (row["sink"], row["sparse"]) == (expected, expected)
