"""The bench that probe tests work at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.probe.bench import Bench


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Bench:
    return Bench(tmp_path, monkeypatch, capfd)
