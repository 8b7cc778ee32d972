#!/usr/bin/env bash
# compute-sanitizer (of NVIDIA's toolkit) on a machine with a GPU: memcheck, racecheck, synccheck, initcheck, over the examples and
# over tests of every kind of program (tests/gpu/sanitized.txt).
# usage: tools/sanitize_gpu.sh [PROGRAM ...]   (default: what sanitized.txt names; PROGRAM: examples or tests, as a line there)
# JOBS processes run at once (8). PYTHON names the interpreter (else python3); tilery must be importable, as in `./run python` or an
# unpacked archive of tools/pack.py. TOOLS names some of the tools.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
[[ -d $here/examples ]] || here="$(dirname "$here")"
cd "$here" || exit 2
export PYTHONPATH="$here/python${PYTHONPATH:+:$PYTHONPATH}"
export python="${PYTHON:-python3}"
# check TOOL PROGRAM: one line, and what was found.
check() {
  local log status found command
  log="$(mktemp)"
  case "$2" in
    tests/*) command="\"\$python\" -m pytest -q -p no:cacheprovider -m gpu $2" ;;
    *) command="\"\$python\" examples/on_gpu.py $2" ;;
  esac
  # Tensors with memory of their own: what lies outside of them would be hidden by torch's caching allocator.
  eval "PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool $1 --show-backtrace no --print-limit 1000 $command" >"$log" 2>&1
  status=$?
  # initcheck does not see what the copy engine writes: torch's kernels, which read such results, are taken at their word.
  found="$(grep -E '^=+ +(Warning|Error|Invalid|Uninitialized|Race|Barrier|at )' "$log")"
  [[ $1 != initcheck ]] || found="$(grep -E '^=+ +at ' "$log")"
  found="$(echo "$found" | grep -vE 'at::|nvjet_|cublas|cutlass' | grep .)" # torch's kernels and cuBLAS's
  [[ -z $found ]] || status=9
  {
    echo "$1 $2: $([[ $status == 0 ]] && echo clean || echo "status $status")"
    [[ $status == 0 ]] || { echo "$found" | sort | uniq -c | sort -rn | head -20; grep -v '^=====' "$log" | tail -5; }
    [[ -z ${LOGS:-} ]] || cp "$log" "$LOGS/$1-$(echo "$2" | tr -c 'a-z0-9\n' _ | cut -c1-60)"
  } | cat
  rm -f "$log"
  return $status
}
export -f check
command -v compute-sanitizer >/dev/null || { echo "sanitize: compute-sanitizer of NVIDIA's toolkit is not on the path" >&2; exit 2; }
if (($#)); then printf '%s\n' "$*"; else grep -v '^#' tests/gpu/sanitized.txt; fi |
  while read -r program; do
    for tool in ${TOOLS:-memcheck racecheck synccheck initcheck}; do printf '%s\0' "$tool" "$program"; done
  done | xargs -0 -P "${JOBS:-8}" -n 2 bash -c 'check "$@"' check
