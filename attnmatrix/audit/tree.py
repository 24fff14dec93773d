"""A release's files: a wheel, an unpacked folder or an installed package, read and never run."""

from __future__ import annotations

import re
import zipfile
from functools import cached_property
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

EXTENSION_SUFFIXES = (".so", ".pyd")
"""How compiled modules end, whatever stands between the name and the suffix."""


class AuditError(Exception):
    """A release that cannot be read; the message says why and what would be accepted."""


class Tree:
    """The files of one package, by their path from the package's parent, such as `vllm/envs.py`."""

    def __init__(self, path: str, package: str) -> None:
        self.path = path
        self.package = package

    def read(self, name: str) -> str | None:
        """The text of a file, or None where there is none. Raises AuditError if unreadable."""
        raise NotImplementedError

    @cached_property
    def names(self) -> frozenset[str]:
        """Every file of the package and of its metadata."""
        raise NotImplementedError

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds a file, without a slash at the end."""
        found: set[str] = set()
        for name in self.names:
            while "/" in name and (name := name.rpartition("/")[0]) not in found:
                found.add(name)
        return frozenset(found)

    @cached_property
    def extensions(self) -> frozenset[str]:
        """Dotted names of the compiled modules: those here, or else those that a RECORD lists."""
        compiled = [name for name in self.names if name.endswith(EXTENSION_SUFFIXES)]
        if not compiled:  # a wheel of which only the Python files were unpacked
            lines = self._information("RECORD").splitlines()
            listed = (line.split(",")[0] for line in lines)
            compiled = [name for name in listed if name.endswith(EXTENSION_SUFFIXES)]
        folders = (name.rpartition("/")[::2] for name in compiled)
        return frozenset(f"{f}/{base.split('.')[0]}".replace("/", ".") for f, base in folders)

    def module_file(self, module: str) -> str | None:
        """The source file of a dotted module name, or None."""
        stem = module.replace(".", "/")
        for name in (f"{stem}.py", f"{stem}/__init__.py"):
            if name in self.names:
                return name
        return None

    def has_module(self, module: str) -> bool:
        """Whether the module is there: as source, compiled, or as a bare folder."""
        return (
            self.module_file(module) is not None
            or module in self.extensions
            or module.replace(".", "/") in self.folders
        )

    @cached_property
    def metadata(self) -> str:
        """The text of the distribution's METADATA; empty where there is none."""
        return self._information("METADATA") or self._information("PKG-INFO")

    def _information(self, file: str) -> str:
        stem = re.compile(rf"{re.escape(self.package)}-[^/]+\.(?:dist|egg)-info/{file}$")
        found = sorted(name for name in self.names if stem.match(name))
        return (self.read(found[-1]) or "") if found else ""

    @cached_property
    def version(self) -> str | None:
        """The release, from its metadata or its `_version.py`; None where neither says."""
        if found := re.search(r"^Version:\s*(\S+)", self.metadata, re.MULTILINE):
            return found[1]
        text = self.read(f"{self.package}/_version.py") or ""
        found = re.search(
            r"""^__version__\s*(?::[^=\n]*)?=.*?["']([^"'\n]+)["']""", text, re.MULTILINE
        )
        return found[1] if found else None

    @cached_property
    def requirements(self) -> dict[str, str]:
        """What an installation brings along: normalised distribution name -> specifier."""
        lines = re.findall(r"^Requires-Dist:\s*(.+)$", self.metadata, re.MULTILINE)
        if not lines:
            for name in ("requirements/common.txt", "requirements/cuda.txt"):
                lines += (self.read(name) or "").splitlines()
        return dict(_requirements(lines))


def pinned(specifier: str) -> str | None:
    """The one version that a specifier such as `==0.7.2` allows, or None."""
    exact = re.fullmatch(r"={2,3}\s*([^,*\s]+)", specifier)
    return exact[1] if exact else None


def _requirements(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        text, _, marker = line.partition(";")
        found = re.match(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*\(?([^#)]*)", text)
        if found and "extra" not in marker:
            yield re.sub(r"[-_.]+", "-", found[1]).lower(), found[2].strip()


class WheelTree(Tree):
    """A wheel, read without unpacking it."""

    def __init__(self, path: str, package: str) -> None:
        super().__init__(path, package)
        try:
            self._zip = zipfile.ZipFile(path)
        except zipfile.BadZipFile as error:
            raise AuditError(f"{path} is not a wheel: {error}") from None
        except OSError as error:
            raise AuditError(f"cannot read {path}: {error.strerror or error}") from None

    @cached_property
    def names(self) -> frozenset[str]:
        """Every file in the archive."""
        return frozenset(name for name in self._zip.namelist() if not name.endswith("/"))

    def read(self, name: str) -> str | None:
        """The text of a member."""
        try:
            return self._zip.read(name).decode("utf-8-sig")
        except KeyError:
            return None
        except Exception as error:  # zipfile raises zlib's, struct's and its own errors
            raise AuditError(f"{self.path}: {name} is damaged ({error})") from None


class FolderTree(Tree):
    """An unpacked wheel, a source checkout or a folder of installed packages."""

    @cached_property
    def names(self) -> frozenset[str]:
        """Files of the package, its metadata and, in a checkout, its requirements."""
        root = Path(self.path)
        found: set[str] = set()
        wanted = [root / self.package, root / "requirements"]
        wanted += [
            *root.glob(f"{self.package}-*.dist-info"),
            *root.glob(f"{self.package}.egg-info"),
        ]
        for folder in wanted:
            for parent, _, files in folder.walk() if hasattr(folder, "walk") else _walk(folder):
                prefix = parent.relative_to(root).as_posix()
                found.update(f"{prefix}/{file}" for file in files)
        return frozenset(found)

    def read(self, name: str) -> str | None:
        """The text of a file."""
        try:
            return (Path(self.path) / name).read_text(encoding="utf-8-sig")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise AuditError(f"cannot read {Path(self.path) / name}: {error}") from None


def _walk(folder: Path) -> Iterable[tuple[Path, list[str], list[str]]]:
    import os

    for parent, folders, files in os.walk(folder):
        yield Path(parent), folders, files


def open_tree(path: str, package: str) -> Tree:
    """The tree at a wheel's or folder's path, or of the installed package for `installed`.

    Raises AuditError where there is no such thing, or where it does not hold the package.
    """
    if path == "installed":
        path = str(_installed(package))
    place = Path(path)
    if place.is_dir():
        if place.name == package and (place / "__init__.py").is_file():
            place = place.resolve().parent
        if not (place / package).is_dir():
            raise AuditError(f"{path} holds no folder {package}/")
        return FolderTree(str(place), package)
    if not place.exists():
        raise AuditError(
            f"there is no {path}; give a wheel, a folder that holds {package}/, or installed"
        )
    tree = WheelTree(path, package)
    if not any(name.startswith(f"{package}/") for name in tree.names):
        raise AuditError(f"{path} holds no package {package}")
    return tree


def _installed(package: str) -> Path:
    from importlib.util import find_spec

    spec = find_spec(package)  # of a top-level name: finds it without running it
    if spec is None or not spec.submodule_search_locations:
        raise AuditError(f"{package} is not installed here; give a wheel or a folder")
    return Path(next(iter(spec.submodule_search_locations))).parent
