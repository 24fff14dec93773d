"""Runs every combination of a kernel's axes on the GPU at hand, and holds the answers to the matrix."""
