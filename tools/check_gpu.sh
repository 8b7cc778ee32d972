#!/usr/bin/env bash
# In an unpacked archive of tools/pack.py, on a machine with a GPU: the tests that need one, then the benchmark table.
# usage: ./check [ROWS ...]   (rows of benchmarks/peers/run.py; --write puts the tables into pages of docs)
#        ./check --against ARCHIVE   has anything become slower since that archive of tools/pack.py? (benchmarks/gate.py)
# JOBS processes share the tests (8); nothing runs beside the benchmarks. PYTHON names the interpreter (else python3): one with torch
# that sees the GPU, numpy and pytest. TileLang and Triton are measured where they are installed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
export python="${PYTHON:-python3}"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
export scratch PYTHONPATH="$PWD/python${PYTHONPATH:+:$PYTHONPATH}"
if [[ ${1:-} == --against ]]; then
  mkdir "$scratch/base"
  tar xf "$2" -C "$scratch/base"
  "$python" benchmarks/gate.py "$scratch/base/tilery/python" --device cuda "${@:3}"
  exit
fi
# part NUMBER FILES: tests of these files, in a process with caches of its own; what it printed is in part-NUMBER.
part() {
  local number="$1" status
  shift
  TILERY_VERIFY=1 TILERY_BUILD_DIR="$scratch/$number" TILERY_CACHE_DIR="$scratch/$number/cache" \
    "$python" -m pytest -q -p no:cacheprovider -m "gpu and not long" "$@" >"$scratch/part-$number" 2>&1
  status=$?
  ((status < 128)) || echo "a process of the tests ended by signal $((status - 128)): its other tests did not run" >>"$scratch/part-$number"
  ((status == 5)) || return "$status" # 5: none of these files has a test for a GPU
}
export -f part
jobs="${JOBS:-8}"
# The longest files are dealt out first, so that each process gets about as much.
find tests -name 'test_*.py' -printf '%s %p\n' | sort -rn | awk -v jobs="$jobs" '
  { files[NR % jobs] = files[NR % jobs] " " $2 }
  END { for (i = 0; i < jobs; i++) print i files[i] }' | while read -r number files; do
    echo "$number" $(tr ' ' '\n' <<<"$files" | sort) # by folders: each folder's fixtures are met once
  done | xargs -P "$jobs" -L 1 bash -c 'part "$@"' part
tests=$?
cat "$scratch"/part-* | grep -vE '^[.sFExX]+( +\[ *[0-9]+%\])?$|^$|^[0-9]+ deselected'
cat "$scratch"/part-* | awk '/^[0-9]+ (passed|failed|skipped|deselected|error)/ {
    for (i = 1; i < NF; i++) if ($i ~ /^[0-9]+$/) { word = $(i + 1); gsub(/[^a-z]/, "", word); sum[word] += $i } }
  END { printf "tests: %d passed, %d failed, %d skipped\n", sum["passed"], sum["failed"] + sum["error"] + sum["errors"], sum["skipped"] }'
TILERY_BUILD_DIR="$scratch" TILERY_CACHE_DIR="$scratch/cache" "$python" benchmarks/peers/run.py "$@"
rows=$?
exit $((tests || rows))
