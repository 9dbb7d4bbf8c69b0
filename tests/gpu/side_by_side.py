#!/usr/bin/env python3
"""Two GPUs of one kind tune side by side, a shape each.

    python3 tests/gpu/side_by_side.py --program build/bin/tilewright [--json out.json]

The same shapes are tuned by GPU 0 and by GPUs 0 and 1, each time with an empty store. Exit status 1 where one of two GPUs has tuned nothing, where a
default schedule's time on the second is more than 10 % from that on the first, where two GPUs do not take less time than one, or where a
record is not found in the store that both have written. Needs two H100 or H200; exit status 0, and why, where there are fewer.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHAPES = ["4,16,16,4096,4096,128", "1,16,16,16384,16384,128", "16,16,16,1024,1024,128", "8,16,16,2048,2048,128", "4,32,32,4096,4096,64", "16,32,32,1024,1024,64"]


def ran(words, cache):
    return subprocess.run(words, env={**os.environ, "TILEWRIGHT_CACHE": str(cache)}, capture_output=True, text=True, timeout=300)


def seconds_of_default(result):
    return next((schedule["seconds"] for schedule in result["schedules"] if schedule["schedule"] == result["default"] and "seconds" in schedule), float("nan"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--target", default="h200")
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--json", help="write both runs to this file")
    args = parser.parse_args()
    folder, wrong, runs, walls = Path(tempfile.mkdtemp(prefix="side_by_side.")), [], {}, {}
    for gpus in ("0", "0,1"):
        start = time.monotonic()
        result = ran([args.program, "tune", "causal", "--target", args.target, "--gpus", gpus, "--shapes", *args.shapes, "--json"], folder / gpus)
        walls[gpus] = time.monotonic() - start
        runs[gpus] = json.loads(result.stdout) if result.stdout else []
        why = next((run["why_not_measured"] for run in runs[gpus] if not run["measured"]), result.stderr.strip() if "is not there" in result.stderr else "")
        if why:
            print(f"skipped: {why[:300]}")
            return 0
        if result.returncode:
            wrong.append(f"--gpus {gpus}: exit status {result.returncode}: {result.stderr[-500:]}")
        print(f"--gpus {gpus}: {len(runs[gpus])} shapes in {walls[gpus]:.1f} s", flush=True)
    for one, both in zip(runs["0"], runs["0,1"]):
        first, second = seconds_of_default(one), seconds_of_default(both)
        print(f"{','.join(map(str, one['shape'])):32} {one['processor']}: {first * 1e6:9.1f} us; {both['processor']}: {second * 1e6:9.1f} us; {'the same' if one['chosen'] == both['chosen'] else 'another'} choice")
        if not abs(second / first - 1) < 0.1:
            wrong.append(f"{one['shape']}: the default schedule takes {first:.4g} s on one and {second:.4g} s on the other")
        found = ran([args.program, "bench", "causal", "--target", args.target, "--shape", ",".join(map(str, one["shape"][:6])), "--json"], folder / "0,1")
        if not both["chosen"]:
            wrong.append(f"{one['shape']}: nothing is chosen: {both['schedules'][0].get('refused')}")
        elif both["chosen"] != both["default"] and both["chosen"] not in found.stdout:
            wrong.append(f"{one['shape']}: a process after them does not find {both['chosen']}: {(found.stdout + found.stderr)[:300]}")
    processors = {result["processor"] for result in runs["0,1"]}
    if len(processors) != 2:
        wrong.append(f"two GPUs were to tune, and {', '.join(sorted(processors)) or 'none'} did")
    if not walls["0,1"] < walls["0"]:
        wrong.append(f"two GPUs took {walls['0,1']:.1f} s, one {walls['0']:.1f}")
    if args.json:
        Path(args.json).write_text(json.dumps({"seconds": walls, "runs": runs}, indent=2) + "\n")
    for line in wrong:
        print("WRONG", line)
    print(f"{len(wrong)} of {len(runs['0']) + 2} looks are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
