#!/usr/bin/env python3
"""Times our kernels beside ones that were written by hand, in one process.

    python3 tests/bench/by_hand.py --library build/lib/libtilewright.so --launcher FOLDER/launcher.py [--only same all hooks] [--json out.json]

FILE.py defines `launcher(config, q, k, v, o, lse, aux=None)`: for tensors [B, H, S, D] (lse [B, H, S], f32) a function without arguments that
launches the kernel of `config`, `HD=128;DT=bf16;MASK=causal` and more such fields: MASK is none, causal, or window with W=1024; LAZY=0 rescales at every
step, BN=128 is the tile along the fold, XTILE=0 lets no item begin before the last one ends, QBUF=1 is one buffer of the block; SCORE is an
expression of a score s, its row q, its column kv and p.aux. Three parts:

    same    the same options in both, head dim 128, exact and with a held stabiliser: at least 0.94 of its speed, 0.97 in the geometric mean
    all     default builds beside its own defaults, head dims 64 to 256, 1k to 16k: at least 0.93, 0.97 in the geometric mean
    hooks   softcap, ALiBi and a window of 1024 at 4k beside the same in its hooks: at least 1.6 times as fast, exact and approximate tanh

Results are held against each other first. Exit status 1 where one is apart, or too slow. Needs an H100 or H200 and torch with CUDA.
"""
import argparse
import importlib.util
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import peers  # noqa: E402
import tilewright  # noqa: E402

SAME = "block=q d=128 e=128 k=128 q=128 warpgroups=2 stages=2 blockBuffers=1 overlap=yes turns=yes drawn=yes stabilised={}"


def loaded(file):
    spec = importlib.util.spec_from_file_location("by_hand_launcher", file)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(Path(file).resolve().parent))
    spec.loader.exec_module(module)
    return module.launcher


class Row:
    """Launches on one set of tensors, ours and by hand in pairs."""

    def __init__(self, torch, library, launcher, heads, length, d, tokens):
        self.torch, self.library, self.launcher = torch, library, launcher
        self.q, self.k, self.v = (torch.randn(tokens // length, heads, length, d, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        self.extra, self.runs, self.outputs, self.pairs = {}, {}, {}, []

    def tensors(self, name):
        self.outputs[name] = self.torch.empty_like(self.q)
        return self.outputs[name], self.torch.empty(self.q.shape[:3], dtype=self.torch.float32, device="cuda")

    def add(self, label, variant, schedule, config, aux=None):
        ours, hand = f"{label}, ours", f"{label}, by hand"
        kernel = self.library.build(variant, "bf16", self.q.shape[-1], options=f"schedule={schedule}" if schedule else None)
        o, lse = self.tensors(ours)
        self.runs[ours] = kernel.bind({"Q": self.q, "K": self.k, "V": self.v, "O": o, "lse": lse, **self.extra})
        o, lse = self.tensors(hand)
        self.runs[hand] = self.launcher(f"HD={self.q.shape[-1]};DT=bf16;{config}", self.q, self.k, self.v, o, lse, aux=aux)
        self.pairs.append((label, ours, hand))

    def measure(self, part, rounds, apart):
        """Rows of the table; raises where two results are further apart than `apart`, relative to their norm."""
        for run in self.runs.values():
            run()
        self.torch.cuda.synchronize()
        for label, ours, hand in self.pairs:
            a, b = self.outputs[ours].float(), self.outputs[hand].float()
            difference = ((a - b).norm() / b.norm()).item()
            if not difference < apart:
                raise SystemExit(f"{label}: results are {difference:.3g} apart, at most {apart} expected")
        times = peers.measure(self.torch, self.runs, rounds, 0)
        for label, ours, hand in self.pairs:
            yield {"part": part, "label": label, "ours_milliseconds": times[ours], "by_hand_milliseconds": times[hand], "ratio": times[hand] / times[ours]}


def same(row_of, rounds):
    for length in (4096, 16384):
        row = row_of(16, length, 128)
        for variant, mask in (("plain", "none"), ("causal", "causal")):
            for how, held, lazy in (("exact", "no", 0), ("held", "yes", 1)):
                row.add(f"{variant} {length} {how}", variant, SAME.format(held), f"MASK={mask};LAZY={lazy};BN=128;XTILE=0;QBUF=1")
        yield from row.measure("same", rounds, 0.01)


def everything(row_of, rounds):
    for d in (64, 128, 256):
        for length in (1024, 4096, 16384):
            row = row_of(2048 // d, length, d)
            for variant, mask in (("plain", "none"), ("causal", "causal")):
                row.add(f"{variant} D {d} {length}", variant, None, f"MASK={mask}")
            yield from row.measure("all", rounds, 0.01)


def hooks(row_of, rounds):
    row = row_of(16, 4096, 128)
    slopes = row.torch.tensor([2.0 ** (-8 * (h + 1) / 16) for h in range(16)], device="cuda")
    row.extra["slopes"] = slopes
    for label, softcap, tanh in (("exact tanh", "softcap", "tanhf"), ("approximate tanh", "softcapfast", "tanh_fast")):
        score = f"50.f * {tanh}(s / 50.f) + ((const float*)p.aux)[h] * (float)(kv - q)"
        row.add(label, f"{softcap}(50)+alibi+window(1023,0)", None, f"MASK=window;W=1024;SCORE={score}", aux=slopes)
    yield from row.measure("hooks", rounds, 0.02)


PARTS = {"same": (same, 0.94, 0.97), "all": (everything, 0.93, 0.97), "hooks": (hooks, 1.6, 1.6)}   # the least ratio, the least geometric mean


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    parser.add_argument("--launcher", required=True, metavar="FILE.py", help="defines launcher()")
    parser.add_argument("--only", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--tokens", type=int, default=16384, help="batch times length")
    parser.add_argument("--json", help="write the rows to this file")
    args = parser.parse_args()
    import torch
    torch.manual_seed(0)
    library, launcher = tilewright.Library(args.library), loaded(args.launcher)
    print(f"{torch.cuda.get_device_name()}; torch {torch.__version__}; medians of {args.rounds}; ratios are speed, ours / by hand")
    rows, failed = [], False
    for part in args.only:
        measure, least, least_mean = PARTS[part]
        ratios = []
        for row in measure(lambda heads, length, d: Row(torch, library, launcher, heads, length, d, args.tokens), args.rounds):
            rows.append(row)
            ratios.append(row["ratio"])
            print(f"{part:6} {row['label']:24} {row['ours_milliseconds']:8.3f} ms  by hand {row['by_hand_milliseconds']:8.3f} ms  {row['ratio']:.3f}", flush=True)
        mean = statistics.geometric_mean(ratios)
        is_fast = min(ratios) >= least and mean >= least_mean
        failed |= not is_fast
        print(f"{part}: geometric mean {mean:.3f} (aim {least_mean}), least {min(ratios):.3f} (aim {least}): {'holds' if is_fast else 'does not hold'}", flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows}, indent=2) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
