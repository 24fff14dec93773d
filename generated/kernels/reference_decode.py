# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""PyTorch reference in float32 or float64."""

from attnmatrix.kernel import Kernel

NAME = "reference.decode"

ENTRY = Kernel(
    NAME,
    title="PyTorch reference in float32 or float64",
    library="torch",
    adapter="reference:ReferenceDecode",
    phase="decode",
)
