"""Kernels: adapters with plan and run, a reference in torch, and KV-cache packing.

Importing this package imports nothing; each module imports torch when it is imported itself.
"""
