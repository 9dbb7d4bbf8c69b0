#!/usr/bin/env python3
"""Times every schedule of a list on every shape: the data that the cost model is fitted to and held against.

    tilewright explain causal --target h200 --shape 4,16,4096,128 --json --all > list.json     (or any list of the form below)
    python3 tests/bench/exhaust.py --library build/lib/libtilewright.so --list list.json --json exhaust.json

The list is JSON: [{"variant", "target", "head_dim", "shapes": [[B, H, S], …], "schedules": [text, …]}, …]; "" is what a build without a schedule makes, which may
be two kernels. Kernels are built in parallel; those of an entry are held against its first one (which tests hold against float64) and timed in two passes: one round for all, then,
when the clock has come down to what the power allows, `--rounds` rounds, interleaved in random order, for the first one and those within `--near` of the fastest. A time is the
median over the rounds of its ratio to the first one's in the same round, times the first one's median. Rows hold the schedule, the shape, the seconds, those of the rounds of even
and of odd number ("halves": what one half calls the fastest, the other one times without that luck), and registers, spilled bytes and shared memory. What is refused is listed with
the reason. Needs torch with CUDA.
"""
import argparse
import concurrent.futures
import json
import random
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import schedules  # noqa: E402
import tilewright  # noqa: E402


def build(library, entry, schedule):
    try:
        kernel = library.build(entry["variant"], "bf16", entry["head_dim"], target=entry["target"], options="cache=off;" + ("schedule=" + schedule if schedule else "tune=never"))
        return kernel, schedules.Description(kernel.describe()).resources
    except RuntimeError as error:
        return None, " ".join(str(error).split())[:300]


def batch(torch, launch, times):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(times):
        launch()
    end.record()
    return start, end, times


def seconds(started):
    start, end, times = started
    return start.elapsed_time(end) * 1e-3 / times


def time_all(torch, launches, rounds, near, batch_seconds, settle_seconds):
    """(seconds, halves) by index, of all launches; how many were timed more than once."""
    first = {}
    for i, launch in launches.items():
        launch()
        started = [batch(torch, launch, 1) for _ in range(3)]
        torch.cuda.synchronize()
        first[i] = min(map(seconds, started))   # a hiccup must not keep one out of the second pass
    best, base = min(first.values()), min(launches)
    close = [i for i in launches if i == base or first[i] <= near * best]

    def round_of_all():
        random.shuffle(close)
        started = [(i, batch(torch, launches[i], max(2, min(200, round(batch_seconds / first[i]))))) for i in close]
        torch.cuda.synchronize()
        return {i: seconds(each) for i, each in started}

    began = time.monotonic()
    while time.monotonic() - began < settle_seconds:
        round_of_all()
    taken = [round_of_all() for _ in range(rounds)]
    unit = statistics.median(each[base] for each in taken)

    def over(some, i):
        return unit * statistics.median(each[i] / each[base] for each in some)
    return {i: (over(taken, i), [over(taken[0::2], i), over(taken[1::2], i)]) if i in close else (first[i], None) for i in launches}, len(close)


def measure(torch, entry, kernels, args, rows):
    d = entry["head_dim"]
    for b, h, s in entry["shapes"]:
        torch.manual_seed(1)
        inputs = {name: torch.randn(b, h, s, d, device="cuda", dtype=torch.bfloat16) for name in "QKV"}
        expected, o, lse = None, torch.empty_like(inputs["Q"]), torch.empty(b, h, s, device="cuda")
        launches = {}
        for i, (kernel, resources) in enumerate(kernels):
            if kernel is None:
                continue
            extra = {"slopes": torch.tensor([2.0 ** (-8 * (x + 1) / h) for x in range(h)], device="cuda")} if "slopes" in schedules.Description(kernel.describe()).loads else {}
            launches[i] = kernel.bind({**inputs, "O": o, "lse": lse, **extra})
            o.zero_()
            launches[i]()
            torch.cuda.synchronize()
            if expected is None:
                expected = o.clone()
            difference = (o.float() - expected.float()).abs().max().item()
            if not difference < args.tolerance:
                rows.append({"variant": entry["variant"], "target": entry["target"], "head_dim": d, "shape": [b, h, s], "schedule": entry["schedules"][i], "wrong": difference})
                del launches[i]
        times, close = time_all(torch, launches, args.rounds, args.near, args.batch_seconds, args.settle_seconds)
        for i, (value, halves) in times.items():
            rows.append({"variant": entry["variant"], "target": entry["target"], "head_dim": d, "shape": [b, h, s], "schedule": entry["schedules"][i], "seconds": value, **({"halves": halves} if halves else {}), **kernels[i][1]})
        best = min((i for i in times if times[i][1]), key=lambda i: times[i][0])
        print(f"{entry['target']} {entry['variant']} D{d} B{b} H{h} S{s}: {len(times)} schedules, {close} close, first {times[min(times)][0] * 1e3:.3f} ms, best {times[best][0] * 1e3:.3f} ms {entry['schedules'][best]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--list", required=True)
    parser.add_argument("--json", required=True)
    parser.add_argument("--rounds", type=int, default=30, help="two at least")
    parser.add_argument("--near", type=float, default=1.5)
    parser.add_argument("--batch-seconds", type=float, default=3e-3)
    parser.add_argument("--settle-seconds", type=float, default=0.6, help="of rounds that do not count")
    parser.add_argument("--tolerance", type=float, default=0.03)
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--limit", type=float, default=600, help="seconds after which no further entry is begun")
    args = parser.parse_args()
    began = time.monotonic()
    import torch
    library = tilewright.Library(args.library)
    entries, rows = json.loads(Path(args.list).read_text()), []
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    futures = [[pool.submit(build, library, entry, schedule) for schedule in entry["schedules"]] for entry in entries]
    concurrent.futures.wait(sum(futures, []))   # compiling disturbs what is timed
    for entry, waiting in zip(entries, futures):
        if time.monotonic() - began > args.limit:
            print(f"out of time before {entry['target']} {entry['variant']} D{entry['head_dim']}")
            break
        kernels = [future.result() for future in waiting]
        rows += [{"variant": entry["variant"], "target": entry["target"], "head_dim": entry["head_dim"], "schedule": schedule, "refused": why} for schedule, (kernel, why) in zip(entry["schedules"], kernels) if kernel is None]
        print(f"{time.monotonic() - began:.1f} s: built {sum(k is not None for k, _ in kernels)} of {len(kernels)}", flush=True)
        measure(torch, entry, kernels, args, rows)
        Path(args.json).write_text(json.dumps({"gpu": torch.cuda.get_device_name(), "rows": rows}, indent=0) + "\n")
    for future in sum(futures, []):
        future.cancel()
    print(f"{time.monotonic() - began:.1f} s, {len(rows)} rows")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
