"""Benchmarks: how fast the environments are, and how well agents play."""
