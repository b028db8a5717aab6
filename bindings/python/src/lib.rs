//! snowmint-core for Python.
