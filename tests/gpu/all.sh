#!/bin/bash
# Everything that needs a GPU, on one build: tests/gpu/all.sh build/lib/libtilewright.so build/bin/tilewright [FOLDER] [right|fast|tuner]
# First what must be right (matrix, sanitizers, gallery, masks, gradients), then times beside others, some eight minutes on an H200; then limits of shared memory, bytes and tunings, some five. Whole reports go
# to FOLDER (gpu-reports), the last lines of each are printed. Exit status 1 where one failed. Needs an H100 or H200 and torch with CUDA.
set -u
library=${1:?usage: all.sh LIBRARY PROGRAM [FOLDER] [right|fast|tuner]}
program=${2:?usage: all.sh LIBRARY PROGRAM [FOLDER] [right|fast|tuner]}
folder=${3:-gpu-reports}
part=${4:-all}
case $part in all | right | fast | tuner) ;; *) echo "all.sh: '$part' is no part; expected right, fast or tuner" >&2; exit 2 ;; esac
gpu=$(cd "$(dirname "$0")" && pwd)
bench=$gpu/../bench
mkdir -p "$folder" || exit 1
export PYTHONDONTWRITEBYTECODE=1
failed=()
# report NAME LINES SECONDS COMMAND…
report() {
  local name=$1 lines=$2 seconds=$3 start=$SECONDS
  shift 3
  timeout "$seconds" "$@" >"$folder/$name.txt" 2>&1
  local status=$?
  [ $status -eq 0 ] || failed+=("$name ($status)")
  echo "== $name: exit status $status after $((SECONDS - start)) s"
  tail -n "$lines" "$folder/$name.txt" | cut -c 1-200
}
if [ "$part" = all ] || [ "$part" = right ]; then
  report matrix 2 120 python3 "$gpu/matrix.py" --library "$library" --v-nan
  report matrix-sm80 2 90 python3 "$gpu/matrix.py" --library "$library" --quick --v-nan --target h200-sm80
  report sanitizers 4 200 bash "$gpu/sanitize.sh" "$library"
  report sanitizers-sm80 4 200 bash "$gpu/sanitize.sh" "$library" --target=h200-sm80
  report gallery 4 200 python3 "$gpu/gallery.py" --program "$program"
  report masks 1 90 python3 "$gpu/masks.py" --library "$library"
  report masks-sm80 1 90 python3 "$gpu/masks.py" --library "$library" --target h200-sm80
  report gradients 3 200 python3 "$gpu/gradients.py" --library "$library"
fi
if [ "$part" = all ] || [ "$part" = fast ]; then
  report peers 20 200 python3 "$bench/peers.py" --library "$library" --lengths 512 1024 2048 4096 16384 --head-dims 64 128 256 --peers --json "$folder/peers.json"
  report forms 20 200 python3 "$bench/peers.py" --library "$library" --forms f16 gqa bshd odd --peers --rounds 11 --json "$folder/forms.json"
  report variants 9 150 python3 "$bench/variants.py" --library "$library" --json "$folder/variants.json"
  report stabiliser 2 60 python3 "$bench/stabiliser.py" --library "$library"
  report sparsity 16 120 python3 "$bench/sparsity.py" --library "$library" --rounds 5 --json "$folder/sparsity.json"
  report backward 12 150 python3 "$bench/backward.py" --library "$library" --json "$folder/backward.json"
fi
if [ "$part" = all ] || [ "$part" = tuner ]; then
  report limits 8 120 python3 "$gpu/limits.py" --library "$library"
  report memory 4 90 python3 "$bench/memory.py" --library "$library" --program "$program" --json "$folder/memory.json"
  report tune 2 150 python3 "$gpu/tune.py" --program "$program" --json "$folder/tune.json"
  report tune-backward 2 200 python3 "$gpu/tune.py" --program "$program" --library "$library" --pass backward --json "$folder/tune-backward.json"
fi
[ ${#failed[@]} -eq 0 ] && echo "all is right" && exit 0
echo "failed: ${failed[*]}"
exit 1
