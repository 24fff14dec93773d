# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""GPU names, each with its compute capability."""

from __future__ import annotations

GPUS: dict[str, str] = {
    "V100": "7.0",
    "T4": "7.5",
    "A100": "8.0",
    "A800": "8.0",
    "A30": "8.0",
    "A10": "8.6",
    "A10G": "8.6",
    "A40": "8.6",
    "RTX A6000": "8.6",
    "RTX 3090": "8.6",
    "Jetson AGX Orin": "8.7",
    "L4": "8.9",
    "L20": "8.9",
    "L40": "8.9",
    "L40S": "8.9",
    "RTX 4090": "8.9",
    "RTX 6000 Ada": "8.9",
    "H100": "9.0",
    "H200": "9.0",
    "H20": "9.0",
    "H800": "9.0",
    "GH200": "9.0",
    "B200": "10.0",
    "GB200": "10.0",
    "B300": "10.3",
    "GB300": "10.3",
    "Jetson Thor": "11.0",
    "Thor": "11.0",
    "RTX 5090": "12.0",
    "RTX PRO 6000": "12.0",
    "DGX Spark": "12.1",
    "GB10": "12.1",
}
