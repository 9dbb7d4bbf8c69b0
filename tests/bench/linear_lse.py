#!/usr/bin/env python3
"""A linear layer over a vocabulary and the log-sum-exp of its rows in one kernel, against torch's matrix product of the same shapes alone.

    python3 tests/bench/linear_lse.py --library build/lib/libtilewright.so [--widths 4096 512] [--json out.json]

`parts` splits the vocabulary over thread blocks (programs/linear_log_sum_exp_parts.txt, with log_sum_exp_of_parts.txt behind it), `whole` does not. The
product is made in pieces of the vocabulary, since the whole of it would be tokens times vocabulary. All run interleaved; times are medians, rates count the
product's work. The results are checked against float64 on some rows, and the memory that a launch takes against its tensors. Exit status 1 where
a result is wrong or parts have less than 0.7 of the product's rate. Needs an H100 or H200 and torch with CUDA.
"""
import argparse
import json
import random
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import tilewright  # noqa: E402

PROGRAMS = HERE.parent / "gpu" / "programs"


def program(library, name, extents, target):
    return library.build_program((PROGRAMS / (name + ".txt")).read_text(), extents, target=target)


def milliseconds(torch, run):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    run()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end)


def measure(torch, library, args, d):
    torch.manual_seed(1)
    t, v, parts = args.tokens, args.vocabulary, args.parts
    x, w = torch.randn(t, d, device="cuda").bfloat16(), (torch.randn(v, d, device="cuda") * (4 / d ** 0.5)).bfloat16()
    tops, totals = (torch.full((parts, t), float("nan"), device="cuda") for _ in range(2))
    outputs = {"parts": torch.full((t,), float("nan"), device="cuda"), "whole": torch.full((t,), float("nan"), device="cuda")}
    best, piece = torch.empty(t, device="cuda"), torch.empty(t, args.piece, device="cuda", dtype=torch.bfloat16)
    of_parts = program(library, "linear_log_sum_exp_parts", f"d={d}", args.target)
    first, second = of_parts.bind({"X": x, "W": w, "top": tops, "total": totals}), program(library, "log_sum_exp_of_parts", "", args.target).bind({"top": tops, "total": totals, "lse": outputs["parts"]})
    whole = program(library, "linear_log_sum_exp", f"d={d}", args.target).bind({"X": x, "W": w, "lse": outputs["whole"], "best": best})

    def in_parts():
        first()
        second()

    def product():
        for start in range(0, v, args.piece):
            rows = w[start:start + args.piece]
            torch.matmul(x, rows.T, out=piece[:, :len(rows)] if len(rows) < args.piece else piece)

    runs = {"parts": in_parts, "whole": whole, "product": product}
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    in_parts()
    whole()
    torch.cuda.synchronize()
    taken = torch.cuda.max_memory_allocated() - before
    rows = torch.arange(0, t, max(1, t // 40), device="cuda")
    want = torch.logsumexp(x[rows].double() @ w.double().T, -1)
    errors = {name: (output[rows].double() - want).abs().max().item() for name, output in outputs.items()}
    product()
    times = {name: [] for name in runs}
    for _ in range(args.rounds):
        for name, run in random.sample(list(runs.items()), len(runs)):
            times[name].append(milliseconds(torch, run))
    rates = {name: 2e-9 * t * v * d / statistics.median(values) for name, values in times.items()}
    schedule = next(line.split(None, 1)[1] for line in of_parts.describe().splitlines() if line.split()[:1] == ["schedule"])
    return {"d": d, "tokens": t, "vocabulary": v, "parts": parts, "teraflops": rates, "errors": errors, "bytes": taken, "schedule": schedule}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    parser.add_argument("--widths", type=int, nargs="+", default=[4096, 512])
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--vocabulary", type=int, default=131072)
    parser.add_argument("--parts", type=int, default=12, help="of the vocabulary, each for thread blocks of its own")
    parser.add_argument("--piece", type=int, default=16384, help="columns of one product")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--target", default="gpu")
    parser.add_argument("--json", help="write the rows to this file")
    args = parser.parse_args()
    import torch
    library, rows, bad = tilewright.Library(args.library), [], False
    for d in args.widths:
        row = measure(torch, library, args, d)
        rates, wrong = row["teraflops"], {name: error for name, error in row["errors"].items() if not error < 2e-3}
        slow = rates["parts"] < 0.7 * rates["product"]
        print(f"D {d}: parts {rates['parts']:.0f} TFLOP/s ({rates['parts'] / rates['product']:.2f} of the product's), whole {rates['whole']:.0f} ({rates['whole'] / rates['product']:.2f}), product {rates['product']:.0f}; "
              f"{row['bytes']} bytes allocated; errors {row['errors']['parts']:.1e}, {row['errors']['whole']:.1e}{'; WRONG' if wrong else ''}{'; SLOW' if slow else ''}\n  {row['schedule']}", flush=True)
        rows.append(row)
        bad |= bool(wrong) or slow or row["bytes"] > 0
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1))
    return bad


if __name__ == "__main__":
    sys.exit(main())
