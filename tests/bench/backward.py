#!/usr/bin/env python3
"""Times our backward kernels beside those of cuDNN and FlashAttention 2, in one process.

    python3 tests/bench/backward.py --library build/lib/libtilewright.so [--json out.json]

Every round runs all candidates once in random order, after a warm-up; a time is the median over the rounds. Gradients are held against cuDNN's first
(tests/gpu/gradients.py holds them against float64), and what differs is not timed. Ours are default builds, all kernels of a backward pass together, and "ordered" those whose
every run has the same bits (deterministic=on);
`--also NAME:FILE` adds those of another build of the library, `--form one` asks for the form whose steps add dQ to memory whatever the mask, and `--fields NAME:FIELDS` adds ours with other fields
of the schedule of the kernel that does so:

    python3 tests/bench/backward.py --library … --form one --fields "two:exchangeBuffers=2 outboxBuffers=2" "delayed:exchangeBuffers=2 delayed=yes"

Needs torch with CUDA.
"""
import argparse
import functools
import json
import os
import random
import re
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tilewright  # noqa: E402

MOST = 1e-2         # relative difference of two results in 16 bits


def make(torch, batch, heads, key_heads, length, d):
    tensors = {name: torch.randn(batch, h, length, d, device="cuda", dtype=torch.bfloat16)
               for name, h in {"Q": heads, "K": key_heads, "V": key_heads, "dO": heads}.items()}
    tensors.update({"O": torch.empty_like(tensors["Q"]), "lse": torch.empty(batch, heads, length, device="cuda")})
    tensors.update({"d" + name: torch.full_like(tensors[name], float("nan")) for name in "QKV"})
    return tensors


def peers(torch, tensors, causal):
    """Backward passes by name; each returns its gradients."""
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    out = {}
    for name, backend in (("cudnn", SDPBackend.CUDNN_ATTENTION), ("fa2", SDPBackend.FLASH_ATTENTION)):
        inputs = [tensors[n].clone().requires_grad_() for n in "QKV"]
        with sdpa_kernel(backend):
            result = F.scaled_dot_product_attention(*inputs, is_causal=causal, enable_gqa=inputs[0].shape[1] != inputs[1].shape[1])
        out[name] = lambda inputs=inputs, result=result: torch.autograd.grad(result, inputs, tensors["dO"], retain_graph=True)
    return out


@functools.lru_cache(maxsize=None)
def with_texts(library, variant, d, options, target="gpu"):
    """A gradient and the text of each of its programs by name. Only a process's first build of a kernel has stages to dump; later ones find it in memory."""
    before = os.environ.get("TILEWRIGHT_DUMP")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILEWRIGHT_DUMP"] = folder
        try:
            gradient = library.build_gradient(variant, "bf16", d, target=target, options=";".join(filter(None, (options, "cache=off", "tune=never"))))
        finally:
            if before is None:
                del os.environ["TILEWRIGHT_DUMP"]
            else:
                os.environ["TILEWRIGHT_DUMP"] = before
        return gradient, {path.parent.name.rsplit("-", 1)[0]: path.read_text() for path in Path(folder).glob("*/01-program.txt")}


class Scheduled:
    """The kernels of a gradient one by one, each from its program's text, with other fields in the schedule of the one that adds to memory."""

    def __init__(self, library, variant, d, options, fields, target="gpu"):
        self.gradient, texts = with_texts(library, variant, d, options, target)
        self.kernels, self.between = [], {}
        for part in re.split(r"^(?=kernel )", self.gradient.describe(), flags=re.M)[2:]:       # behind the forward kernel
            name, schedule = re.match(r"kernel (\S+)", part)[1], re.search(r"^  schedule  (.*)$", part, re.M)[1]
            if re.search(r"^  adds to ", part, re.M):
                given = {field.split("=")[0] for field in fields.split()}
                schedule = " ".join([field for field in schedule.split() if field.split("=")[0] not in given] + [fields])
            extents = " ".join(f"{axis}={length}" for axis, length in re.findall(r"^  axis +(\w+) inner, \d+ wide, (\d+) long", part, re.M))
            self.kernels.append(library.build_program(texts[name], extents, target=target, options="cache=off;schedule=" + schedule))
            self.between.update({tensor: int(rank) for tensor, rank in re.findall(r"^  (?:loads|stores|adds to) +(\w+) f32\[(\d)\]", part, re.M)})

    def bind(self, torch, tensors):
        """As a gradient's. What lies between its kernels is a value for each row, or a tile's row."""
        b, h, length, d = tensors["Q"].shape
        tensors = {**{name: torch.full((b, h, length, d)[:rank], float("nan"), device="cuda") for name, rank in self.between.items() if name not in tensors}, **tensors}
        forward = self.gradient.bind({name: tensor for name, tensor in tensors.items() if name not in self.between or name == "lse"})[0]
        launches = [kernel.bind({name: tensors[name] for name in re.findall(r"^  (?:loads|stores|adds to) +(\w+)", kernel.describe(), re.M)}) for kernel in self.kernels]

        def backward():
            for launch in launches:
                launch()

        backward.keep = tensors
        return forward, backward


def measure(torch, runs, rounds):
    times = {name: [] for name in runs}
    for turn in range(rounds + 1):           # the first warms up
        for name in random.sample(list(runs), len(runs)):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            runs[name]()
            runs[name]()
            end.record()
            torch.cuda.synchronize()
            if turn:
                times[name].append(start.elapsed_time(end) / 2)
    return {name: statistics.median(ms) for name, ms in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    parser.add_argument("--also", nargs="*", default=[], metavar="NAME:FILE", help="other builds of the library")
    parser.add_argument("--form", choices=["usual", "one"], default="usual", help="one: steps add dQ to memory, under any mask")
    parser.add_argument("--fields", nargs="*", default=[], metavar="NAME:FIELDS", help="ours again, with these fields of the schedule of the kernel that adds to memory")
    parser.add_argument("--head-dims", type=int, nargs="*", default=[64, 128])
    parser.add_argument("--lengths", type=int, nargs="*", default=[1024, 4096, 16384])
    parser.add_argument("--variants", nargs="*", default=["plain", "causal"], choices=["plain", "causal"])
    parser.add_argument("--group", type=int, default=1, help="heads of queries to one of keys")
    parser.add_argument("--tokens", type=int, default=16384)
    parser.add_argument("--hidden", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", help="a file for the figures")
    args = parser.parse_args()
    import torch
    torch.manual_seed(0)
    first = tilewright.Library(args.library)
    form = "accumulates=on" if args.form == "one" else None
    ours = {"ours": (first, form), "ordered": (first, "deterministic=on"), **{name: (tilewright.Library(file), form) for name, _, file in (item.partition(":") for item in args.also)}}
    fields = dict(item.split(":", 1) for item in args.fields)
    refused = set()
    scheduled = {}
    rows, wrong = [], 0
    for d in args.head_dims:
        for length in args.lengths:
            for variant in args.variants:
                batch, heads = max(1, args.tokens // length), args.hidden // d
                tensors = make(torch, batch, heads, heads // args.group, length, d)
                runs = peers(torch, tensors, variant == "causal")
                expected = runs["cudnn"]()
                for name in (*ours, *fields):
                    try:
                        if name in fields:
                            if (name, variant, d) not in scheduled and (name, variant, d) not in refused:
                                scheduled[name, variant, d] = Scheduled(first, variant, d, form, fields[name])
                            if (name, variant, d) in refused:
                                continue
                            forward, backward = scheduled[name, variant, d].bind(torch, tensors)
                        else:
                            library, options = ours[name]
                            if fields and name == "ours":
                                gradient, _ = with_texts(first, variant, d, form)
                            else:
                                gradient = library.build_gradient(variant, "bf16", d, options=options)
                            forward, backward = gradient.bind(tensors)
                    except RuntimeError as error:
                        refused.add((name, variant, d))
                        print(f"REFUSED: {name} {variant} D {d}: {error}", flush=True)
                        continue
                    for n in "QKV":
                        tensors["d" + n].fill_(float("nan"))
                    forward()
                    backward()
                    torch.cuda.synchronize()
                    off = [((tensors["d" + n].float() - e.float()).norm() / e.float().norm()).item() for n, e in zip("QKV", expected)]
                    if all(x < MOST for x in off):
                        runs[name] = backward
                    else:
                        wrong += 1
                        print(f"WRONG: {name} {variant} D {d} S {length}: dQ, dK, dV differ by {', '.join(f'{x:.1e}' for x in off)}", flush=True)
                ms = measure(torch, runs, args.rounds)
                flops = 10 * batch * heads * length * length * d / (2 if variant == "causal" else 1)
                row = {"variant": variant, "d": d, "length": length, "batch": batch, "heads": heads, "group": args.group, "ms": ms, "tflops": {name: flops / t / 1e9 for name, t in ms.items()}}
                rows.append(row)
                print(f"{variant:7} D {d:3} S {length:5}: " + ", ".join(f"{name} {speed:.0f}" for name, speed in row["tflops"].items()) +
                      "".join(f"; {name} / cudnn {ms['cudnn'] / ms[name]:.2f}" for name in (*ours, *fields) if name in ms), flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows}, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
