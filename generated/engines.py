# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Engines of which it is known in what releases they have which backends."""

ENGINES: tuple[str, ...] = ("vllm",)
