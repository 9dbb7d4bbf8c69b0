#!/usr/bin/env python3
"""Tunes on GPU 0 and holds the tuner to its promises.

    python3 tests/gpu/tune.py --program build/bin/tilewright [--table h200.txt] [--json out.json] [--seconds 90] [--report folder]

Pairs are those of docs/performance.md, and two more. For each pair of a variant and a shape: 12 candidates are compiled, checked and timed within 30 s; then another process times the default schedule beside the
one that a build takes (`tilewright bench`), which may take 3 % more at most. --table keeps lines of a shipped table (runtime/tune/tables).
--pass backward does so for the kernels of gradients, 30 s each: builds with what was found and without it take turns, and `explain` shows what was measured. It needs --library, and torch.
Needs a GPU, its driver and NVRTC. Pairs that --seconds leaves no time for are skipped, and named.
"""
import argparse
import json
import math
import os
import random
import statistics
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
    ("causal", "8,16,16,2048,2048,128"),
    ("plain", "4,32,32,4096,4096,64"),
]
BACKWARD = [
    ("plain", "4,16,16,4096,4096,128"),
    ("causal", "4,16,16,4096,4096,128"),
    ("causal", "4,32,32,4096,4096,64"),
    ("plain", "4,32,32,4096,4096,64"),
    ("causal", "1,16,16,16384,16384,128"),
    ("causal", "16,16,16,1024,1024,128"),
    ("gemma2", "2,16,8,4096,4096,128"),
    ("window(1023,0)", "2,16,16,8192,8192,128"),
]
MOST_SECONDS = 30
MOST_LOSS = 1.03


def run(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def bound(torch, library, variant, shape, how):
    """The backward pass of a gradient that is built for the shape, and the tensors that it works on."""
    b, h, hkv, sq, skv, d, _ = (shape + shape[-1:])[:7]
    tensors = {name: torch.randn(b, heads, length, d, device="cuda", dtype=torch.bfloat16) for name, heads, length in (("Q", h, sq), ("K", hkv, skv), ("V", hkv, skv), ("O", h, sq), ("dO", h, sq))}
    tensors.update({"d" + name: torch.empty_like(tensors[name]) for name in "QKV"})
    tensors["lse"] = torch.empty(b, h, sq, device="cuda")
    shapes = " ".join(f"{name}={'x'.join(map(str, tensors[name].shape))}" for name in "QKV")
    gradient = library.build_gradient(variant, "bf16", d, options=f"tune={how};shapes={shapes}")
    forward, run = gradient.bind(tensors)
    forward()
    return run


def raced(torch, runs, rounds=9, batch_seconds=40e-3):
    """Seconds of each, in turn: medians. Each runs in a row for so long that the clock is the one that its own power allows, in random order, since what comes first after a wait finds a higher one."""
    def once(run, times):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(times):
            run()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) * 1e-3 / times
    for run in runs.values():
        run()
    count = {name: max(3, round(batch_seconds / once(run, 3))) for name, run in runs.items()}
    times = {name: [] for name in runs}
    for _ in range(rounds + 2):
        for name in random.sample(list(runs), len(runs)):
            times[name].append(once(runs[name], count[name]))
    return {name: statistics.median(own[2:]) for name, own in times.items()}


def backward(args, pairs):
    """Rows and complaints of the kernels of gradients."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
    import tilewright
    import torch
    library, began, rows, complaints = tilewright.Library(os.path.abspath(args.library)), time.time(), [], []
    for i, (variant, shape) in enumerate(pairs):
        if time.time() - began > args.seconds:
            print(f"skipped for lack of time: {pairs[i:]}")
            break
        start = time.time()
        try:
            tuned = json.loads(run(args.program, "tune", variant, "--shapes", shape, "--target", args.target, "--pass", "backward", "--json"))[0]
            seconds = time.time() - start
            lengths = [int(n) for n in shape.split(",")]
            times = raced(torch, {how: bound(torch, library, variant, lengths, how) for how in ("never", "cached")})
            shown = run(args.program, "explain", variant, "--shape", shape, "--target", tuned["target"], "--pass", "backward")
        except RuntimeError as error:
            complaints.append(str(error))
            print(str(error)[:2000], flush=True)
            continue
        ratio = times["cached"] / times["never"]
        rows.append({"variant": variant, "shape": shape, "tune_seconds": seconds, **times, "tuned": tuned})
        print(f"{variant:16} {shape:26} {seconds:5.1f} s, {len(tuned['kernels'])} kernels; backward {times['never'] * 1e6:9.1f} us, tuned x {ratio:.3f}", flush=True)
        for kernel in tuned["kernels"]:
            best = min((s for s in kernel["schedules"] if "ratio" in s), key=lambda s: s["ratio"], default=None)
            refused = [s for s in kernel["schedules"] if "refused" in s]
            print(f"    {kernel['program']:24} {kernel['seconds']:5.1f} s, {len(kernel['schedules'])} tried, {len(refused)} refused; " + (f"{best['seconds'] * 1e6:9.1f} us, x {best['ratio']:.3f}  {kernel['chosen']}" if best else "nothing timed"))
            for each in refused:
                print(f"        refused {each['schedule']}: {each['refused'][:200]}")
            if kernel["seconds"] > MOST_SECONDS:
                complaints.append(f"{variant} {shape} {kernel['program']}: tuning took {kernel['seconds']:.1f} s, expected {MOST_SECONDS} at most")
        for form in tuned["forms"]:
            print(f"    {'+'.join(form['kernels'])}: " + (f"{form['seconds'] * 1e6:.1f} us" if form["seconds"] else "not timed"), flush=True)
        if ratio > MOST_LOSS:
            complaints.append(f"{variant} {shape}: tuned kernels take {ratio:.3f} of the default ones' time, expected {MOST_LOSS} at most")
        if "tuned here" not in shown:
            complaints.append(f"{variant} {shape}: explain shows nothing of what was measured")
    return rows, complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--library", help="build/lib/libtilewright.so: with --pass backward")
    parser.add_argument("--table")
    parser.add_argument("--json")
    parser.add_argument("--report", help="a folder for the pages")
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--target", default="gpu")
    parser.add_argument("--pass", dest="direction", choices=("forward", "backward"), default="forward")
    args = parser.parse_args()
    if args.direction == "backward" and not args.library:
        parser.error("--pass backward needs --library")
    began, complaints, rows, lines = time.time(), [], [], ""
    # A store of its own: what was found before is not what is tested.
    own = tempfile.TemporaryDirectory()
    os.environ["TILEWRIGHT_CACHE"] = own.name
    if args.direction == "backward":
        rows, complaints = backward(args, BACKWARD)
        if args.json:
            json.dump(rows, open(args.json, "w"), indent=1)
        if rows:
            ratios = [row["cached"] / row["never"] for row in rows]
            print(f"{len(rows)} pairs; geometric mean of the ratios {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}, the largest {max(ratios):.3f}")
        for complaint in complaints:
            print("WRONG:", complaint)
        return 1 if complaints or not rows else 0
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
