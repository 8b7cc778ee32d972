#!/usr/bin/env bash
# compute-sanitizer (of NVIDIA's toolkit) over the examples, on a machine with a GPU: memcheck, racecheck, synccheck, initcheck.
# usage: tools/sanitize_gpu.sh [PROGRAM ...]   (default: all of examples/)
# PYTHON names the interpreter (else python3); tilery must be importable, as in `./run python` or an unpacked archive of tools/pack.py.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
[[ -d $here/examples ]] || here="$(dirname "$here")"
cd "$here" || exit 2
export PYTHONPATH="$here/python${PYTHONPATH:+:$PYTHONPATH}"
python="${PYTHON:-python3}"
(($#)) || set -- examples/{tileon,ninetoothed,tilelang}/*.py
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
failed=0
for tool in memcheck racecheck synccheck initcheck; do
  for program in "$@"; do
    # Launches one after the other, and tensors of their own: torch's caching allocator would hide what lies outside of them.
    PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 5 \
      "$python" examples/on_gpu.py "$program" >"$log" 2>&1
    status=$?
    echo "$tool $program: $([[ $status == 0 ]] && echo clean || echo "status $status") $(grep -o 'ERROR SUMMARY.*' "$log" | tail -1)"
    [[ $status == 0 ]] || { failed=1; grep -v '^$' "$log" | head -40; }
  done
done
exit $failed
