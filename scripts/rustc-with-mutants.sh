#!/usr/bin/env bash
# The compiler for the crates of the workspace (RUSTC_WORKSPACE_WRAPPER), with mutants; what they depend on stays as it is.
exec "$@" --cfg snowmint_mutants
