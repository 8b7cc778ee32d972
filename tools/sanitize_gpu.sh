#!/usr/bin/env bash
# compute-sanitizer (of NVIDIA's toolkit) over the examples, on a machine with a GPU: memcheck, racecheck, synccheck, initcheck.
# usage: tools/sanitize_gpu.sh [PROGRAM ...]   (default: all of examples/)
# JOBS of them run at once (8). PYTHON names the interpreter (else python3); tilery must be importable, as in `./run python` or an unpacked archive of tools/pack.py.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
[[ -d $here/examples ]] || here="$(dirname "$here")"
cd "$here" || exit 2
export PYTHONPATH="$here/python${PYTHONPATH:+:$PYTHONPATH}"
python="${PYTHON:-python3}"
(($#)) || set -- examples/{tileon,ninetoothed,tilelang}/*.py
# check TOOL PROGRAM: one line, and what was found.
check() {
  local log status found
  log="$(mktemp)"
  # Tensors with memory of their own: what lies outside of them would be hidden by torch's caching allocator.
  PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool "$1" --show-backtrace no --print-limit 1000 \
    "$python" examples/on_gpu.py "$2" >"$log" 2>&1
  status=$?
  # initcheck does not see what the copy engine writes: torch's kernels, which read such results, are taken at their word.
  found="$(grep -E '^=+ +(Warning|Error|Invalid|Uninitialized|Race|Barrier|at )' "$log")"
  [[ $1 != initcheck ]] || found="$(grep -E '^=+ +at ' "$log")"
  found="$(echo "$found" | grep -vE 'at::|nvjet_|cublas|cutlass' | grep .)" # torch's kernels and cuBLAS's
  [[ -z $found ]] || status=9
  {
    echo "$1 $2: $([[ $status == 0 ]] && echo clean || echo "status $status")"
    [[ $status == 0 ]] || { echo "$found" | head -20; grep -v '^=' "$log" | tail -5; }
  } | cat
  rm -f "$log"
  return $status
}
export -f check
export python
command -v compute-sanitizer >/dev/null || { echo "sanitize: compute-sanitizer of NVIDIA's toolkit is not on the path" >&2; exit 2; }
for program in "$@"; do
  printf '%s\n' "memcheck $program" "racecheck $program" "synccheck $program" "initcheck $program"
done | xargs -P "${JOBS:-8}" -L 1 bash -c 'check "$@"' check
