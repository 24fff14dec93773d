"""Every test here needs a CUDA GPU: it is marked so, and its inputs are new at each run."""

from __future__ import annotations

import random

import pytest
import torch


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/gpu/" in item.path.as_posix():
            item.add_marker(pytest.mark.gpu)


@pytest.fixture(autouse=True)
def _fresh_seed() -> None:
    seed = random.SystemRandom().randrange(2**31)
    print(f"torch.manual_seed({seed})")  # shown when a test fails
    torch.manual_seed(seed)


@pytest.fixture
def cuda() -> torch.device:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA GPU")
    return torch.device("cuda", torch.cuda.current_device())
