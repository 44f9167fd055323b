"""Tests of the package run pytest themselves."""

pytest_plugins = ["pytester"]
