"""Settings that all tests share."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# The same cases on every machine, and none that fails for being slow.
settings.register_profile(
    "attnmatrix",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("attnmatrix")
