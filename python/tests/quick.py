"""Tests that CI leaves to the nightly run; `make test` has them."""

import os

import pytest

IS_QUICK = bool(os.environ.get("QUICK"))
nightly = pytest.mark.skipif(IS_QUICK, reason="CI leaves it to the nightly run")
