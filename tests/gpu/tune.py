#!/usr/bin/env python3
"""Tunes on GPU 0 and holds the tuner to its promises.

    python3 tests/gpu/tune.py --program build/bin/tilewright [--table h200.txt] [--json out.json] [--seconds 90] [--report folder]

For each pair of a variant and a shape: 12 candidates are compiled, checked and timed within 30 s; then another process times the default schedule beside the
one that a build takes (`tilewright bench`), which may take 3 % more at most. --table keeps lines of a shipped table (runtime/tune/tables).
Needs a GPU, its driver and NVRTC. Pairs that --seconds leaves no time for are skipped, and named.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

PAIRS = [
    ("causal", "4,16,16,4096,4096,128"),
    ("plain", "4,16,16,4096,4096,128"),
    ("causal", "4,32,32,4096,4096,64"),
    ("plain", "1,32,32,16384,16384,64"),
    ("causal", "1,16,16,16384,16384,128"),
    ("causal", "16,16,16,1024,1024,128"),
    ("causal", "4,32,8,4096,4096,128"),
    ("window(1023,0)", "4,16,16,8192,8192,128"),
    ("gemma2", "2,16,8,4096,4096,128"),
    ("causal", "64,16,16,1024,1024,64"),
    ("plain", "16,16,16,1024,1024,64"),
    ("alibi", "4,16,16,4096,4096,128"),
]
MOST_SECONDS = 30
MOST_LOSS = 1.03


def run(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--table")
    parser.add_argument("--json")
    parser.add_argument("--report", help="a folder for the pages")
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--target", default="gpu")
    args = parser.parse_args()
    began, complaints, rows, lines = time.time(), [], [], ""
    # A store of its own: what was found before is not what is tested.
    own = tempfile.TemporaryDirectory()
    os.environ["TILEWRIGHT_CACHE"] = own.name
    for i, (variant, shape) in enumerate(PAIRS):
        if time.time() - began > args.seconds:
            print(f"skipped for lack of time: {PAIRS[i:]}")
            break
        table = os.path.join(own.name, "table")
        more = ["--report", os.path.join(args.report, f"tune-{i}.html")] if args.report else []
        start = time.time()
        try:
            tuned = json.loads(run(args.program, "tune", variant, "--shapes", shape, "--target", args.target, "--json", "--table", table, *more))[0]
            seconds = time.time() - start
            bench = json.loads(run(args.program, "bench", variant, "--shape", shape, "--target", args.target, "--json"))
        except RuntimeError as error:
            complaints.append(str(error))
            print(error)
            continue
        lines += open(table).read()
        timings = bench["timings"]
        ratio = timings["chosen"]["ratio"] if "chosen" in timings else 1.0
        refused = [s for s in tuned["schedules"] if "refused" in s]
        rows.append({"variant": variant, "shape": shape, "tune_seconds": seconds, "bench": bench, "tuned": tuned})
        print(f"{variant:16} {shape:26} {seconds:5.1f} s, {len(tuned['schedules'])} tried, {len(refused)} refused; {timings['default']['seconds'] * 1e6:9.1f} us, chosen x {ratio:.3f} ({bench['origin']})  {tuned['chosen']}", flush=True)
        for each in refused:
            print(f"    refused {each['schedule']}: {each['refused'][:300]}")
        if len(tuned["schedules"]) < 12:
            complaints.append(f"{variant} {shape}: {len(tuned['schedules'])} candidates were tried, expected 12")
        if seconds > MOST_SECONDS:
            complaints.append(f"{variant} {shape}: tuning took {seconds:.1f} s, expected {MOST_SECONDS} at most")
        if ratio > MOST_LOSS:
            complaints.append(f"{variant} {shape}: the tuned schedule takes {ratio:.3f} of the default one's time, expected {MOST_LOSS} at most")
    if args.table:
        open(args.table, "w").write(lines)
    if args.json:
        json.dump(rows, open(args.json, "w"), indent=1)
    if rows:
        gains = [r["bench"]["timings"].get("chosen", {"ratio": 1})["ratio"] for r in rows]
        print(f"{len(rows)} pairs; geometric mean of the ratios {math.exp(sum(map(math.log, gains)) / len(gains)):.3f}, the largest {max(gains):.3f}; the longest tuning {max(r['tune_seconds'] for r in rows):.1f} s")
    for complaint in complaints:
        print("WRONG:", complaint)
    return 1 if complaints or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
