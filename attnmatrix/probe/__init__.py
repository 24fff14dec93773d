"""Runs every combination of a kernel's axes on the GPU at hand; holds answers to the matrix."""
