#!/usr/bin/env python3
"""What each field of a schedule is worth: one program with the default schedule, and with each field changed alone.

    python3 tests/bench/ablate.py --library build/lib/libtilewright.so [--variant causal] [--head-dim 128] [--length 4096] [--json a.json] [--out a.md]

All run in every round, in random order (the card's clock drifts with its power), the default one twice, so that the last column of "default
again" shows the noise; times are medians over the rounds. Each result is held against the default one's, and that against a kernel for the CPU in
float64 on one head; a wrong one is not timed. Schedules that are refused are listed with the reason.

"Tensor cores" is the share of their cycles in which they had to be busy: FLOP of the tiles that the fold visits (tiles that a mask or an end
cuts are counted whole) / (cycles × multiprocessors × FLOP that one multiprocessor's tensor cores do in a cycle). Cycles are read from the
multiprocessors' own counters before and after each batch of launches, so that no clock is assumed; what launching takes counts too.
Exit status 1 where the default kernel is wrong. Needs torch with CUDA.
"""
import argparse
import json
import random
import re
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import schedules  # noqa: E402
import sm_clock  # noqa: E402
import tilewright  # noqa: E402

DEFAULT, AGAIN = "default", "default again"


class Gpu:
    """Tensors and the clock of torch's current GPU; what a test replaces."""

    def __init__(self, shape, head_dim, dtype, seed=1):
        import torch
        self.torch = torch
        torch.manual_seed(seed)
        batch, heads, queries, keys = shape
        kind = {"bf16": torch.bfloat16, "f16": torch.float16}[dtype]
        self.inputs = {name: torch.randn(batch, heads, length, head_dim, device="cuda", dtype=kind) for name, length in (("Q", queries), ("K", keys), ("V", keys))}
        self.slopes = torch.tensor([2.0 ** (-8 * (h + 1) / heads) for h in range(heads)], device="cuda")
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        self.name, self.multiprocessors, self.versions = properties.name, properties.multi_processor_count, f"torch {torch.__version__}"
        try:
            self.clocks = sm_clock.Clocks(torch)
        except (OSError, RuntimeError) as error:
            print(f"no cycles, and so no share of the tensor cores: {error}", file=sys.stderr)
            self.clocks = None

    def bind(self, kernel):
        """A launch of the kernel on the inputs, and the tensor that it stores."""
        q = self.inputs["Q"]
        o = self.torch.empty_like(q)
        tensors = {**self.inputs, "O": o, "lse": self.torch.empty(q.shape[:3], device="cuda")}
        if "slopes" in schedules.Description(kernel.describe()).loads:
            tensors["slopes"] = self.slopes
        return kernel.bind(tensors), o

    def difference(self, a, b):
        return (a.float() - b.float()).abs().max().item()

    def error(self, library, variant, head_dim, o):
        """Of the first and the last head, against the CPU in float64."""
        worst, torch = 0.0, self.torch
        exact = library.build(variant, "f64", head_dim, target="host")
        for b, h in {(0, 0), (o.shape[0] - 1, o.shape[1] - 1)}:
            inputs = {name: tensor[b:b + 1, h:h + 1].double().cpu().contiguous() for name, tensor in self.inputs.items()}
            expected = torch.empty_like(inputs["Q"])
            tensors = {**inputs, "O": expected, "lse": torch.empty(expected.shape[:3], dtype=torch.float64)}
            if "slopes" in schedules.Description(exact.describe()).loads:
                tensors["slopes"] = self.slopes[h:h + 1].double().cpu()
            exact.bind(tensors)()
            worst = max(worst, (o[b, h].double().cpu() - expected[0, 0]).abs().max().item())
        return worst

    def wait(self):
        self.torch.cuda.synchronize()

    def start(self, launch, times):
        """Queues that many launches; the result of `finish` is (seconds, cycles or None) of one."""
        torch = self.torch
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        rooms = [self.clocks.room(), self.clocks.room()] if self.clocks else []
        if rooms:
            self.clocks.read(rooms[0])
        start.record()
        for _ in range(times):
            launch()
        end.record()
        if rooms:
            self.clocks.read(rooms[1])
        return start, end, rooms, times

    def finish(self, started):
        start, end, rooms, times = started
        cycles = sm_clock.between(*(room.tolist() for room in rooms))[0] if rooms else None
        return start.elapsed_time(end) * 1e-3 / times, cycles / times if cycles else None


def reason(error):
    """In one line, without the schedule, which is known."""
    text = re.sub(r"[;.,]? [Tt]he schedule: block=\S+( \w+=\S+)*", "", " ".join(str(error).split())) or "no reason given"
    return text if len(text) <= 300 else text[:299] + "…"


def prepare(library, gpu, args):
    """Rows of what runs, with their launches, and rows of what does not, with the reason."""
    def built(schedule):
        return library.build(args.variant, args.dtype, args.head_dim, target=args.target, options="cache=off" + (f";schedule={schedules.show(schedule)}" if schedule else ""))

    base = built(None)
    described = schedules.Description(base.describe())
    launch, expected = gpu.bind(base)
    launch()
    gpu.wait()
    error = gpu.error(library, args.variant, args.head_dim, expected)
    if not error < args.tolerance:
        raise SystemExit(f"ablate.py: the default kernel is wrong by {error:.3g}, more than {args.tolerance}")
    rows = [{"change": name, "schedule": described.schedule, "launch": launch, "resources": described.resources, "error": error} for name in (DEFAULT, AGAIN)]
    for name, schedule in schedules.changes(described.schedule, described.block, described.fold, args.folds):
        row = {"change": name, "schedule": schedule}
        rows.append(row)
        try:
            kernel = built(schedule)
            row["resources"] = schedules.Description(kernel.describe()).resources
            launch, o = gpu.bind(kernel)
            launch()
            gpu.wait()
            row["difference"] = gpu.difference(o, expected)
            if not row["difference"] < args.tolerance:
                raise RuntimeError(f"WRONG: off by {row['difference']:.3g} from the default kernel")
            row["launch"] = launch
        except RuntimeError as refusal:
            row["refused"] = reason(refusal)
    return described, rows


def measure(gpu, rows, rounds, batch_seconds, shuffle=random.shuffle):
    """Fills in `seconds` and `cycles` of the rows that have a launch."""
    running = [row for row in rows if "launch" in row]
    for row in running:   # as many launches at once as make the cost of queueing and reading small
        gpu.wait()
        once = gpu.start(row["launch"], 1)
        gpu.wait()
        row["launches"] = max(1, min(1000, round(batch_seconds / max(gpu.finish(once)[0], 1e-7))))
    samples = {id(row): [] for row in running}
    for _ in range(rounds):
        order = list(running)
        shuffle(order)
        started = [(row, gpu.start(row["launch"], row["launches"])) for row in order]
        gpu.wait()
        for row, start in started:
            samples[id(row)].append(gpu.finish(start))
    for row in running:
        taken = samples[id(row)]
        row["seconds"] = statistics.median(seconds for seconds, _ in taken)
        cycles = [count for _, count in taken if count]
        row["cycles"] = statistics.median(cycles) if cycles else None


def derive(rows, described, shape, args, multiprocessors):
    """Ratios, rates and shares out of times and cycles; what is not for a report goes."""
    _, heads, queries, keys = shape
    useful = 4 * shape[0] * heads * schedules.kept_pairs(args.variant, queries, keys) * args.head_dim
    base = next(row["seconds"] for row in rows if row["change"] == DEFAULT)
    for row in rows:
        row.pop("launch", None)
        row["schedule"] = schedules.show(row["schedule"]) if isinstance(row["schedule"], dict) else row["schedule"]
        if "seconds" not in row:
            continue
        row["ratio"] = row["seconds"] / base
        row["tflops"] = useful / row["seconds"] * 1e-12
        row["visited_flop"] = schedules.visited_flop(args.variant, shape, schedules.parse(row["schedule"]), described.block, described.fold)
        row["tensor_cores"] = schedules.utilisation(row["visited_flop"], row["cycles"], multiprocessors, described.target)
        row["clock_hz"] = row["cycles"] / row["seconds"] if row["cycles"] else None
    return rows


def markdown(rows):
    lines = ["| change | ms | of the default's time | TFLOP/s | tensor cores | clock, MHz | registers | spilled, bytes | shared, KiB |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        taken = row.get("resources", {})
        if "refused" in row:
            lines.append(f"| `{row['change']}` | refused: {row['refused'].replace('|', '/')} | | | | | | | |")
            continue
        share = f"{row['tensor_cores']:.1%}" if row["tensor_cores"] is not None else "–"
        clock = f"{row['clock_hz'] * 1e-6:.0f}" if row["clock_hz"] else "–"
        shared = f"{taken['shared_bytes'] / 1024:.1f}" if taken else "–"
        name = row["change"] if row["change"] in (DEFAULT, AGAIN) else f"`{row['change']}`"
        lines.append(f"| {name} | {row['seconds'] * 1e3:.4f} | {row['ratio']:.3f} | {row['tflops']:.0f} | {share} | {clock} | {taken.get('registers', '–')} | {taken.get('spilled_bytes', '–')} | {shared} |")
    return "\n".join(lines) + "\n"


def ablate(library, gpu, shape, args):
    """The whole of it: a report as a dict."""
    described, rows = prepare(library, gpu, args)
    measure(gpu, rows, args.rounds, args.batch_seconds)
    return {"gpu": gpu.name, "versions": gpu.versions, "target": described.target, "variant": args.variant, "dtype": args.dtype, "head_dim": args.head_dim,
            "shape": dict(zip(("batch", "heads", "queries", "keys"), shape)), "rounds": args.rounds, "default": schedules.show(described.schedule),
            "rows": derive(rows, described, shape, args, gpu.multiprocessors)}


def title(report):
    s = report["shape"]
    return (f"{report['gpu']}, target {report['target']}, {report['versions']}; {report['variant']} {report['dtype']}, B {s['batch']}, H {s['heads']}, Sq {s['queries']}, Skv {s['keys']}, "
            f"D {report['head_dim']}; medians of {report['rounds']}; default `{report['default']}`")


def arguments(given):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    parser.add_argument("--variant", default="causal", help="of the gallery, or several by +")
    parser.add_argument("--dtype", default="bf16", choices=["bf16", "f16"])
    parser.add_argument("--target", default="gpu", help="a target whose kernels this GPU runs, such as h200-sm80; what it is if left out")
    parser.add_argument("--head-dim", type=int, default=128)
    parser.add_argument("--length", type=int, default=4096, help="of queries and keys")
    parser.add_argument("--tokens", type=int, default=16384, help="batch times length")
    parser.add_argument("--hidden", type=int, default=2048, help="heads times head dim")
    parser.add_argument("--folds", type=int, nargs="*", default=[], help="more widths along the fold")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--batch-seconds", type=float, default=5e-3, help="launches queued at once take about that long")
    parser.add_argument("--tolerance", type=float, default=0.03, help="largest error of O")
    parser.add_argument("--json", help="write the report to this file")
    parser.add_argument("--out", help="write the table to this file, as markdown")
    return parser.parse_args(given)


def main(given=None):
    args = arguments(given)
    shape = (max(1, args.tokens // args.length), max(1, args.hidden // args.head_dim), args.length, args.length)
    report = ablate(tilewright.Library(args.library), Gpu(shape, args.head_dim, args.dtype), shape, args)
    text = title(report) + "\n\n" + markdown(report["rows"])
    print(text, end="")
    if args.json:
        Path(args.json).write_text(json.dumps(report, indent=2) + "\n")
    if args.out:
        Path(args.out).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
