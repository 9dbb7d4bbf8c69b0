#!/bin/bash
# compute-sanitizer over a few kernels of each kind: tests/gpu/sanitize.sh build/lib/libtilewright.so [--target=h200-sm80] [memcheck racecheck synccheck initcheck]
# Prints each tool's summary and, where it found something, its output. Exit status 1 if any did. Needs an H100 or H200 and torch with CUDA.
set -u
library=${1:?usage: sanitize.sh LIBRARY [--target=NAME] [tools]}
shift
target=--target=h200
case "${1:-}" in --target=*) target=$1; shift ;; esac
tools=("$@")
[ ${#tools[@]} -gt 0 ] || tools=(memcheck racecheck synccheck initcheck)
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TILEWRIGHT_CACHE="$folder" PYTORCH_NO_CUDA_MEMORY_CACHING=1 PYTHONDONTWRITEBYTECODE=1
# racecheck does not know cp.async.mbarrier.arrive: what it watches lets threads wait for their copies instead, and is built for itself.
settings() { [ "$1" != racecheck ] || echo TILEWRIGHT_PLAIN_ARRIVALS=1; }
for tool in "${tools[@]}"; do
  env $(settings "$tool") timeout 120 python3 "$here/sanitize.py" "$library" "$target" --build || { echo "the kernels cannot be built"; exit 1; }
done
# Each tool watches a process of its own; at the same time, since most of it is their start.
declare -A pids
for tool in "${tools[@]}"; do
  env $(settings "$tool") timeout 150 compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 20 python3 "$here/sanitize.py" "$library" "$target" >"$folder/$tool.txt" 2>&1 &
  pids[$tool]=$!
done
failed=0
for tool in "${tools[@]}"; do
  wait "${pids[$tool]}"
  status=$?
  summary=$(grep -E "(ERROR|RACECHECK) SUMMARY" "$folder/$tool.txt" | sed 's/^=* *//')
  echo "$tool: ${summary:-no summary}; exit status $status"
  if [ $status -ne 0 ] || ! grep -q "all launches ran" "$folder/$tool.txt" || ! grep -qE "SUMMARY: 0 (errors|hazards)" "$folder/$tool.txt"; then
    failed=1
    head -c 6000 "$folder/$tool.txt"
  fi
done
exit $failed
