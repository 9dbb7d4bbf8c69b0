#!/usr/bin/env python3
"""How long cold builds take, and how much of it is ours rather than NVRTC's.

    python3 tests/bench/build_times.py build/lib/libtilewright.so [--target h200] [--backward] [--json out.json]

Each kernel is built in a process of its own, without the cache file, with default options; clocks run around the build alone: the wall's,
and the processor's, which says more where others use the machine. `--backward` builds the kernels of each variant and its gradient: resources
are then the most of any of them. Needs no GPU, only NVRTC. Exit status 1 where a kernel cannot be built.
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


def build_once(library, variant, dtype, d, target, backward):
    """What a process of its own does: builds, and prints the seconds. The library's log on stderr has the parts."""
    loaded = tilewright.Library(library)
    start, worked = time.perf_counter(), time.process_time()
    kernel = loaded.build_gradient(variant, dtype, d, target=target, options="cache=off") if backward else loaded.build(variant, dtype, d, target=target, options="cache=off")
    seconds, processor = time.perf_counter() - start, time.process_time() - worked
    print(json.dumps({"seconds": seconds, "processor_seconds": processor, "describe": kernel.describe()}))


def seconds_of(text):
    number, unit = text.split()
    return float(number) / (1000 if unit == "ms" else 1)


def measure(args, variant, d):
    """The fastest of args.repeat builds: what else the machine does only adds to it."""
    rows = []
    for _ in range(args.repeat):
        command = [sys.executable, __file__, args.library, "--one", variant, args.dtype, str(d), "--target", args.target] + ["--backward"] * args.backward
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, "TILEWRIGHT_LOG": "1"})
        if done.returncode:
            return {"variant": variant, "head_dim": d, "error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
        made = json.loads(done.stdout)
        parts = re.findall(r"compiled in [^,]*, (\S+ \w+) to CUDA text and (\S+ \w+) to machine code", done.stderr)
        resources = re.findall(r"(\d+) registers a thread, (\d+) bytes spilled", made["describe"])
        most = [max(int(each[i]) for each in resources) if resources else None for i in (0, 1)]
        rows.append({"variant": variant, "head_dim": d, "seconds": made["seconds"], "processor_seconds": made["processor_seconds"],
                     "text_seconds": sum(seconds_of(part[0]) for part in parts) if parts else None, "assembly_seconds": sum(seconds_of(part[1]) for part in parts) if parts else None,
                     "registers": most[0], "spilled_bytes": most[1], "schedules_given_up": done.stderr.count("the next one is tried")})
    return min(rows, key=lambda row: row["seconds"])


def table(rows):
    print("| variant | D | build, s | of a processor, s | to CUDA text, ms | NVRTC, s | registers | spilled, bytes | schedules given up |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        if "error" in row:
            print(f"| {row['variant']} | {row['head_dim']} | {row['error'][:200]} | | | | | | |")
            continue
        text, assembly = row["text_seconds"], row["assembly_seconds"]
        print(f"| {row['variant']} | {row['head_dim']} | {row['seconds']:.2f} | {row['processor_seconds']:.2f} | {'' if text is None else f'{text * 1e3:.0f}'} | {'' if assembly is None else f'{assembly:.2f}'} | "
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
    parser.add_argument("--backward", action="store_true", help="the kernels of each variant and of its gradient, in one build")
    parser.add_argument("--json", help="write the rows to this file")
    parser.add_argument("--one", nargs=3, metavar=("VARIANT", "TYPE", "D"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        build_once(args.library, args.one[0], args.one[1], int(args.one[2]), args.target, args.backward)
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
