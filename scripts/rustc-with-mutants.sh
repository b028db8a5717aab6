#!/usr/bin/env bash
# Compiles the workspace's crates with mutants (RUSTC_WORKSPACE_WRAPPER); their dependencies are compiled as usual.
exec "$@" --cfg snowmint_mutants
