#!/usr/bin/env python3
"""Kernels within limits of shared memory, forward and backward: none takes more, what they compute is right, and where none fits that is said with bytes.

    python3 tests/gpu/limits.py --library build/lib/libtilewright.so [--target h200-sm80] [--seconds 90]

Of plain, causal and gemma2 at D 64, 128 and 256, within 48, 64, 99, 163 and 227 KiB. O and every gradient are held to float64 as gradients.py holds them. Needs a GPU and torch with CUDA. Exit status 1
where one is wrong or takes more.
"""
import argparse
import concurrent.futures
import json
import multiprocessing
import os
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import gradients  # noqa: E402
import tilewright  # noqa: E402

VARIANTS, DIMS, LIMITS = ("plain", "causal", "gemma2"), (64, 128, 256), (48, 64, 99, 163, 227)
REFUSED = re.compile(r"the smallest tiles need \d+ bytes of shared memory a block, there are \d+")


def case_of(variant, d):
    return gradients.Case(variant, "bf16", 2, 4, 2, 377, 500, d)


def built(library, target, variant, d, limit):
    return library.build_gradient(variant, "bf16", d, target=target, options=f"shared-limit={limit}KiB", inputs="Q K V")


def build(path, *job):
    """Leaves the kernels in the cache; returns why there are none, or nothing."""
    try:
        built(tilewright.Library(path), *job)
    except RuntimeError as error:
        return str(error)


def wrong_of(torch, case, gradient, limit, known):
    """What is wrong, and the most shared memory of a kernel. `known` keeps what is right, by case."""
    taken = [int(n) for n in re.findall(r"(\d+) bytes of shared", gradient.describe())]
    wrong = [f"a kernel takes {n} bytes" for n in taken if n > limit * 1024]
    tensors = gradients.make(torch, case)
    if case not in known:
        out = gradients.oracle.attention(torch, case.variant, *(tensors[name].double() for name in "QKV"))[0]
        known[case] = out, gradients.exact(torch, case, tensors), gradients.eager(torch, case, tensors), gradients.cancelled(torch, case, tensors)
    out, want, naive, floor = known[case]
    forward, backward = gradient.bind(tensors, spoil=True)
    forward()
    backward()
    torch.cuda.synchronize()
    most = gradients.errors(torch, tensors["O"], out)[1]
    if not most <= 0.03:
        wrong.append(f"O is off by {most:.3g}")
    for name in "QKV":
        most = gradients.errors(torch, tensors["d" + name], want[name])[1]
        allowed = 2 * gradients.errors(torch, naive[name], want[name])[1] + 1e-3 * want[name].abs().max().item() + floor[name]
        if not most <= allowed:
            wrong.append(f"d{name} is off by {most:.3g}, allowed {allowed:.3g}")
    return wrong, max(taken, default=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--target", nargs="+", default=["h200", "h200-sm80"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--json")
    args = parser.parse_args()
    os.environ["TILEWRIGHT_CACHE"] = tempfile.mkdtemp()
    start, path = time.time(), str(Path(args.library).resolve())
    jobs = [(target, variant, d, limit) for target in args.target for variant in VARIANTS for d in DIMS for limit in LIMITS]
    with concurrent.futures.ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn")) as pool:
        refused = dict(zip(jobs, pool.map(build, *zip(*[(path, *job) for job in jobs]))))
    print(f"built after {time.time() - start:.0f} s", flush=True)
    import torch
    library, known, counts, rows = tilewright.Library(path), {}, {"right": 0, "refused": 0, "wrong": 0}, []
    for job in jobs:
        if time.time() - start > args.seconds:
            print(f"skipped for lack of time: {len(jobs) - sum(counts.values())} of {len(jobs)}")
            break
        target, variant, d, limit = job
        if refused[job]:
            outcome, text = ("refused" if REFUSED.search(refused[job]) else "wrong"), refused[job]
        else:
            wrong, taken = wrong_of(torch, case_of(variant, d), built(library, *job), limit, known)
            outcome, text = ("wrong" if wrong else "right"), "; ".join(wrong) or f"{taken} bytes"
        counts[outcome] += 1
        rows.append([*job, outcome, text])
        if outcome != "right":
            print(f"{outcome:8} {target} {variant} D {d} within {limit} KiB: {text[:300]}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()) + f" of {len(jobs)}")
    if args.json:
        json.dump(rows, open(args.json, "w"), indent=0)
    return 1 if counts["wrong"] or not counts["right"] else 0


if __name__ == "__main__":
    sys.exit(main())
