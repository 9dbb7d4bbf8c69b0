#!/bin/bash
# Everything that needs a GPU, on one build: tests/gpu/all.sh build/lib/libtilewright.so build/bin/tilewright [FOLDER [NAME…]]
# NAMEs are of reports or of parts: right (what must be right, five at a time, some five minutes on an H200 with
# 16 processors), wide (the whole gallery at every head dim, some five more), fast (times beside others, one by one, some ten), tuner (bytes, tunings, some
# four); all four if left out. By-hand, in fast, needs LAUNCHER=FILE.py (tests/bench/by_hand.py). Whole reports go to FOLDER (gpu-reports), the last lines of
# each are printed. Exit status 1 where one failed. Needs an H100 or H200 and torch with CUDA.
set -u
library=${1:?usage: all.sh LIBRARY PROGRAM [FOLDER [NAME…]]}
program=${2:?usage: all.sh LIBRARY PROGRAM [FOLDER [NAME…]]}
folder=${3:-gpu-reports}
shift $(($# < 3 ? $# : 3))
gpu=$(cd "$(dirname "$0")" && pwd)
bench=$gpu/../bench
fuzz=${FUZZ:-$(dirname "$program")/../tests/fuzz/fuzz}
export PYTHONDONTWRITEBYTECODE=1

# NAME PART LINES SECONDS COMMAND…: what is shown of a report, and when it is given up
reports() {
  cat <<END
matrix right 2 300 python3 $gpu/matrix.py --library $library --v-nan
sanitizers right 4 250 bash $gpu/sanitize.sh $library
sanitizers-sm80 right 4 250 bash $gpu/sanitize.sh $library --target=h200-sm80
gallery right 4 400 python3 $gpu/gallery.py --program $program
matrix-sm80 right 2 120 python3 $gpu/matrix.py --library $library --quick --v-nan --target h200-sm80
masks right 1 120 python3 $gpu/masks.py --library $library
masks-sm80 right 1 120 python3 $gpu/masks.py --library $library --target h200-sm80
limits right 8 400 python3 $gpu/limits.py --library $library --seconds 380
gradients right 3 500 python3 $gpu/gradients.py --library $library
fuzz right 14 300 env TILEWRIGHT_CACHE=off $fuzz --target h200 --on gpu --programs 500 --jobs 8 --attempts 4
gallery-wide wide 4 590 python3 $gpu/gallery.py --program $program --every-head-dim
launch fast 3 30 python3 $gpu/matrix.py --library $library --only host
by-hand fast 40 200 python3 $bench/by_hand.py --library $library --launcher ${LAUNCHER:-} --json $folder/by-hand.json
peers fast 31 200 python3 $bench/peers.py --library $library --lengths 512 1024 2048 4096 16384 --head-dims 64 128 256 --peers --json $folder/peers.json
forms fast 49 200 python3 $bench/peers.py --library $library --forms f16 gqa bshd odd --peers --rounds 11 --json $folder/forms.json
variants fast 9 150 python3 $bench/variants.py --library $library --json $folder/variants.json
stabiliser fast 2 60 python3 $bench/stabiliser.py --library $library
sparsity fast 20 120 python3 $bench/sparsity.py --library $library --rounds 5 --json $folder/sparsity.json
sparsity-flex fast 8 60 python3 $bench/sparsity.py --library $library --rounds 7 --flex --lengths 16 --only "window 1024" "documents 16k" ALiBi
linear-lse fast 4 90 python3 $bench/linear_lse.py --library $library
backward fast 12 150 python3 $bench/backward.py --library $library --json $folder/backward.json
memory tuner 4 90 python3 $bench/memory.py --library $library --program $program --json $folder/memory.json
tune tuner 2 150 python3 $gpu/tune.py --program $program --seconds 120 --json $folder/tune.json
side-by-side tuner 4 150 python3 $gpu/side_by_side.py --program $program --json $folder/side-by-side.json
tune-backward tuner 2 200 python3 $gpu/tune.py --program $program --library $library --pass backward --json $folder/tune-backward.json
END
}

wanted=("$@")
((${#wanted[@]})) || wanted=(right wide fast tuner)
known=" right wide fast tuner $(reports | cut -d ' ' -f 1 | tr '\n' ' ')"
for name in "${wanted[@]}"; do
  [[ $known == *" $name "* ]] || { echo "all.sh: '$name' is no report; expected any of$known" >&2; exit 2; }
done
if [[ " ${wanted[*]} " == *" by-hand "* && -z ${LAUNCHER:-} ]]; then
  echo "all.sh: by-hand needs LAUNCHER=FILE.py; tests/bench/by_hand.py says what that is" >&2
  exit 2
fi
mkdir -p "$folder" || exit 1

# Runs a report to its file, with its exit status behind it.
run() {
  local name=$1 seconds=$2 command=$3 start=$SECONDS
  eval "timeout $seconds $command" >"$folder/$name.txt" 2>&1
  echo "$? $((SECONDS - start))" >"$folder/$name.status"
}
failed=()
show() {
  local name=$1 lines=$2 status seconds
  read -r status seconds <"$folder/$name.status"
  rm -f "$folder/$name.status"
  [ "$status" -eq 0 ] || failed+=("$name ($status)")
  echo "== $name: exit status $status after $seconds s"
  tail -n "$lines" "$folder/$name.txt" | cut -c 1-200
}

begun=()
finish() {
  wait
  local each
  for each in "${begun[@]}"; do
    show ${each/:/ }
  done
  begun=()
}
while read -r name part lines seconds command; do
  [[ " ${wanted[*]} " == *" $name "* || " ${wanted[*]} " == *" $part "* ]] || continue
  if [ "$name" = by-hand ] && [ -z "${LAUNCHER:-}" ]; then
    echo "== by-hand: skipped, no LAUNCHER is given"
    continue
  fi
  if [ "$part" = right ]; then
    run "$name" "$seconds" "$command" </dev/null &
    begun+=("$name:$lines")
    while (($(jobs -rp | wc -l) >= 5)); do wait -n; done
    continue
  fi
  finish   # what is timed has the GPU to itself
  run "$name" "$seconds" "$command" </dev/null
  show "$name" "$lines"
done < <(reports)
finish
[ ${#failed[@]} -eq 0 ] && echo "all is right" && exit 0
echo "failed: ${failed[*]}"
exit 1
