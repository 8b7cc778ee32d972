#!/usr/bin/env bash
# In an unpacked archive of tools/pack.py, on a machine with a GPU: the tests that need one, then the benchmark table.
# usage: ./check [ROWS ...]   (rows of benchmarks/peers/run.py; --write puts the table into docs/performance.md)
# PYTHON names the interpreter (else python3): one with torch that sees the GPU, numpy and pytest. TileLang and Triton are measured
# where they are installed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
python="${PYTHON:-python3}"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
export PYTHONPATH="$PWD/python${PYTHONPATH:+:$PYTHONPATH}" TILERY_BUILD_DIR="$scratch" TILERY_CACHE_DIR="$scratch/cache"
TILERY_VERIFY=1 "$python" -m pytest -q -m "gpu and not long" tests
tests=$?
"$python" benchmarks/peers/run.py "$@"
rows=$?
exit $((tests || rows))
