#!/usr/bin/env python3
"""What a held stabiliser costs where it never holds: keys whose scores rise from every visited tile to the next.

    python3 tests/bench/stabiliser.py --library build/lib/libtilewright.so [--length 16384] [--also soon:firstVote=2 …] [--json out.json]

The default kernel and one that never holds it (stabilised=no, else the same schedule) run on such keys and on usual ones, interleaved;
times are medians. Both results are checked against float64. Exit status 1 where one is wrong, or where the default kernel takes more than
1.1 times as long on rising keys as the other one. `--also` times the default schedule with other fields beside them; of those nothing but
results counts for the status. Needs an H100 or H200 and torch with CUDA.
"""
import argparse
import json
import random
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tilewright  # noqa: E402


def worst_error(torch, q, k, v, o, causal):
    """Over some rows of head 0, in float64."""
    rows = torch.arange(0, q.shape[2], q.shape[2] // 37, device=q.device)
    s = q[0, 0, rows].double() @ k[0, 0].double().T / q.shape[-1] ** 0.5
    if causal:
        s = s.masked_fill(torch.arange(k.shape[2], device=q.device)[None] > rows[:, None], float("-inf"))
    return (s.softmax(-1) @ v[0, 0].double() - o[0, 0, rows].double()).abs().max().item()


def changed(schedule, fields):
    """The schedule with these fields, `votes=4,firstVote=1`, in place of its own."""
    given = dict(field.split("=") for field in fields.split(","))
    kept = [each for each in schedule.split() if each.split("=")[0] not in given]
    return " ".join(kept + [f"{name}={value}" for name, value in given.items()])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    parser.add_argument("--length", type=int, default=16384)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--also", nargs="+", default=[], metavar="NAME:FIELD=VALUE,…", help="kernels under the default schedule with other fields, beside")
    parser.add_argument("--json", help="write the rows to this file")
    args = parser.parse_args()
    import torch
    library = tilewright.Library(args.library)
    heads, d, n, bad, rows = 16, 128, args.length, False, []
    torch.manual_seed(1)
    for variant in ("plain", "causal"):
        q, k, v = (torch.randn(1, heads, n, d, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        # A score is its key's distance from the end, halved: a tile of 128 keys adds 64 to the largest one, far beyond what is held.
        rising_q = torch.ones_like(q)
        rising_k = ((n - torch.arange(n, device="cuda")).float()[None, None, :, None] * 0.5 / d ** 0.5).expand_as(k).to(torch.bfloat16).contiguous()
        default = library.build(variant, "bf16", d)
        schedule = next(line.split(None, 1)[1] for line in default.describe().splitlines() if line.split()[:1] == ["schedule"])
        kernels = {"default": default, "exact": library.build(variant, "bf16", d, options="schedule=" + changed(schedule, "stabilised=no"))}
        for also in args.also:
            name, fields = also.split(":", 1)
            kernels[name] = library.build(variant, "bf16", d, options="schedule=" + changed(schedule, fields))
        runs, wrong = {}, {}
        for kind, (a, b) in {"usual": (q, k), "rising": (rising_q, rising_k)}.items():
            for name, kernel in kernels.items():
                o, lse = torch.empty_like(q), torch.empty(q.shape[:3], device="cuda")
                runs[name, kind] = kernel.bind({"Q": a, "K": b, "V": v, "O": o, "lse": lse})
                runs[name, kind]()
                error = worst_error(torch, a, b, v, o, variant == "causal")
                if not error < 0.03:   # bf16 weights and results of size 1 to 4: half a unit in the last place of each
                    wrong[f"{name} on {kind} keys"] = error
        times = {run: [] for run in runs}
        for _ in range(args.rounds):
            for run, launch in random.sample(list(runs.items()), len(runs)):
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                launch()
                begin.record()
                launch()
                end.record()
                torch.cuda.synchronize()
                times[run].append(begin.elapsed_time(end))
        median = {run: statistics.median(t) for run, t in times.items()}
        cost = median["default", "rising"] / median["exact", "rising"]
        bad |= bool(wrong) or cost > 1.1
        others = {name: {"rising_over_exact": median[name, "rising"] / median["exact", "rising"], "usual_over_default": median[name, "usual"] / median["default", "usual"]}
                  for name in kernels if name not in ("default", "exact")}
        rows.append({"variant": variant, "length": n, "milliseconds": {f"{name} {kind}": t for (name, kind), t in median.items()}, "rising_over_exact": cost, "wrong": wrong, "also": others})
        print(f"{variant} {n}: " + ", ".join(f"{name} on {kind} keys {t:.3f} ms" for (name, kind), t in median.items()) + f"; rising keys cost {cost:.3f} times the exact kernel"
              + (f"; WRONG {wrong}" if wrong else ""), flush=True)
        for name, each in others.items():
            print(f"  {name}: rising keys {each['rising_over_exact']:.3f} times the exact kernel, usual keys {each['usual_over_default']:.3f} times the default one", flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=2) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
