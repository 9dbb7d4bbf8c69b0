#!/usr/bin/env python3
"""How long cold builds take, and how much of it is ours rather than NVRTC's.

    python3 tests/bench/build_times.py build/lib/libtilewright.so [--target h200] [--json out.json]

Each kernel is built in a process of its own, without the cache file, with default options; the clock runs around the build alone. Needs no
GPU, only NVRTC. Exit status 1 where a kernel cannot be built.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tilewright  # noqa: E402

GALLERY = ("plain", "causal", "window", "softcap", "alibi", "gemma2")


def build_once(library, variant, dtype, d, target):
    """What a process of its own does: builds, and prints the seconds. The library's log on stderr has the parts."""
    loaded = tilewright.Library(library)
    start = time.perf_counter()
    kernel = loaded.build(variant, dtype, d, target=target, options="cache=off")
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "describe": kernel.describe()}))


def seconds_of(text):
    number, unit = text.split()
    return float(number) / (1000 if unit == "ms" else 1)


def measure(args, variant, d):
    """The fastest of args.repeat builds: what else the machine does only adds to it."""
    rows = []
    for _ in range(args.repeat):
        command = [sys.executable, __file__, args.library, "--one", variant, args.dtype, str(d), "--target", args.target]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, "TILEWRIGHT_LOG": "1"})
        if done.returncode:
            return {"variant": variant, "head_dim": d, "error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
        made = json.loads(done.stdout)
        parts = re.search(r"compiled in [^,]*, (\S+ \w+) to CUDA text and (\S+ \w+) to machine code", done.stderr)
        resources = re.search(r"(\d+) registers a thread, (\d+) bytes spilled", made["describe"])
        rows.append({"variant": variant, "head_dim": d, "seconds": made["seconds"], "text_seconds": seconds_of(parts[1]) if parts else None,
                     "assembly_seconds": seconds_of(parts[2]) if parts else None, "registers": int(resources[1]) if resources else None,
                     "spilled_bytes": int(resources[2]) if resources else None,
                     "schedules_given_up": done.stderr.count("the next one is tried")})
    return min(rows, key=lambda row: row["seconds"])


def table(rows):
    print("| variant | D | build, s | to CUDA text, ms | NVRTC, s | registers | spilled, bytes | schedules given up |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        if "error" in row:
            print(f"| {row['variant']} | {row['head_dim']} | {row['error'][:200]} | | | | | |")
            continue
        text, assembly = row["text_seconds"], row["assembly_seconds"]
        print(f"| {row['variant']} | {row['head_dim']} | {row['seconds']:.2f} | {'' if text is None else f'{text * 1e3:.0f}'} | {'' if assembly is None else f'{assembly:.2f}'} | "
              f"{row['registers']} | {row['spilled_bytes']} | {row['schedules_given_up']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libtilewright.so")
    parser.add_argument("--target", default="h200")
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 128, 256])
    parser.add_argument("--variants", nargs="+", default=list(GALLERY))
    parser.add_argument("--jobs", type=int, default=1, help="so many builds at once, each on about two processors")
    parser.add_argument("--repeat", type=int, default=1, help="the fastest of so many builds counts")
    parser.add_argument("--json", help="write the rows to this file")
    parser.add_argument("--one", nargs=3, metavar=("VARIANT", "TYPE", "D"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        build_once(args.library, args.one[0], args.one[1], int(args.one[2]), args.target)
        return 0
    with ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(lambda pair: measure(args, *pair), [(variant, d) for d in args.head_dims for variant in args.variants]))
    table(rows)
    built = [row for row in rows if "error" not in row]
    summary = {}
    if built:
        worst = max(built, key=lambda row: row["seconds"])
        texts = [row["text_seconds"] for row in built if row["text_seconds"] is not None]
        summary = {"median_seconds": statistics.median(row["seconds"] for row in built), "worst_seconds": worst["seconds"], "worst_text_seconds": max(texts, default=None)}
        print(f"\n{len(built)} of {len(rows)} built for {args.target}: median {summary['median_seconds']:.2f} s, worst {worst['seconds']:.2f} s ({worst['variant']} D {worst['head_dim']})"
              + (f"; to CUDA text at most {max(texts) * 1e3:.0f} ms" if texts else ""))
    if args.json:
        Path(args.json).write_text(json.dumps({"target": args.target, "dtype": args.dtype, "summary": summary, "rows": rows}, indent=2) + "\n")
    return 0 if len(built) == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
