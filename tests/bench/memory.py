#!/usr/bin/env python3
"""Bytes of memory that kernels move, as ncu counts them, beside what the cost model predicts and what is compulsory.

    python3 tests/bench/memory.py --library build/lib/libtilewright.so --program build/bin/tilewright [--json out.json]

Launches: those of tests/unit/schedule/data/h200_bytes.dat, to which the model was fitted, and others with default schedules that nothing was fitted to. Then, at GPT-2's shape (B 64, H 16, S 1024, D 64), PyTorch without
fusion, softmax(q @ k.T * s) @ v, in bytes and time. Exit status 1 where fewer than 8 launches are predicted within 15 %, or plain moves more than 1.1 of the compulsory bytes there.
Needs a GPU whose counters ncu may read, and torch with CUDA.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tilewright  # noqa: E402

FITTED = Path(__file__).resolve().parent.parent / "unit/schedule/data/h200_bytes.dat"
OTHERS = (("h200", "plain", 128, 4, 16, 16, 8192), ("h200", "causal", 128, 1, 16, 16, 32768), ("h200", "alibi", 64, 8, 32, 32, 2048), ("h200", "gemma2", 128, 4, 16, 8, 8192),
          ("h200", "window(4095,0)", 64, 1, 32, 8, 32768), ("h200", "plain", 192, 2, 8, 8, 16384), ("h200-sm80", "plain", 64, 4, 32, 32, 4096), ("h200-sm80", "causal", 128, 4, 32, 4, 8192),
          ("h200", "causal", 256, 2, 8, 8, 8192), ("h200", "plain", 64, 64, 16, 16, 1024))
GPT2 = (64, 16, 1024, 64)
WITHIN, LEAST, MOST = 0.15, 8, 1.1
METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum")


def schedule_of(words, d):
    rows, k, warpgroups, stages, buffers, blocks, flags = words

    def yes(flag):
        return "yes" if flag in flags else "no"
    return (f"block=q d={d} e={d} k={k} q={rows} warpgroups={warpgroups} stages={stages} blockBuffers={buffers} overlap={yes('o')} turns={yes('t')} drawn={yes('d')} stabilised=yes "
            f"producer={yes('p')} blocksPerSM={blocks}")


def cases(program):
    launches = [(line.split()[:7], schedule_of(line.split()[7:14], line.split()[2])) for line in FITTED.read_text().splitlines() if line and not line.startswith("#")]
    launches += [(other, None) for other in OTHERS]
    out = []
    for (target, variant, d, b, h, hkv, s), schedule in launches:
        words = [program, "explain", variant, "--target", target, "--shape", f"{b},{h},{hkv},{s},{s},{d}", "--json", *(["--schedule", schedule] if schedule else [])]
        facts = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["programs"][0]
        out.append({"target": target, "variant": variant, "d": int(d), "shape": [int(n) for n in (b, h, hkv, s)], "schedule": facts["schedule"], "fitted": schedule is not None,
                    "predicted": facts["estimate"]["dram_bytes"], "compulsory": facts["estimate"]["compulsory_bytes"]})
    return out


def tensors_of(torch, case):
    (b, h, hkv, s), d = case["shape"], case["d"]
    tensors = {name: torch.randn(b, heads, s, d, device="cuda", dtype=torch.bfloat16) for name, heads in (("Q", h), ("K", hkv), ("V", hkv))}
    tensors.update({"O": torch.empty_like(tensors["Q"]), "lse": torch.empty(b, h, s, device="cuda")})
    if "alibi" in case["variant"]:
        tensors["slopes"] = torch.rand(h, device="cuda")
    return tensors


def unfused(q, k, v):
    return (q @ k.mT * q.shape[-1] ** -0.5).softmax(-1) @ v


def counted(torch, launch):
    """Once before, and once under ncu."""
    launch()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStart()
    launch()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()


def launch_all(args):
    import concurrent.futures
    import torch
    library, todo = tilewright.Library(args.library), json.loads(Path(args.launch).read_text())
    with concurrent.futures.ThreadPoolExecutor() as pool:
        kernels = list(pool.map(lambda case: library.build(case["variant"], "bf16", case["d"], target=case["target"], options="schedule=" + case["schedule"]), todo))
    for case, kernel in zip(todo, kernels):
        counted(torch, kernel.bind(tensors_of(torch, case)))
        torch.cuda.empty_cache()
    b, h, s, d = GPT2
    q, k, v = (torch.randn(b, h, s, d, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    counted(torch, lambda: unfused(q, k, v))


def bytes_by_launch(args, todo):
    """Bytes of each kernel that ncu saw, in order."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(todo, file)
        file.flush()
        words = [args.ncu, "--csv", "--profile-from-start", "off", "--metrics", ",".join(METRICS), sys.executable, __file__, "--library", args.library, "--launch", file.name]
        done = subprocess.run(words, capture_output=True, text=True)
    rows = list(csv.reader(line for line in done.stdout.splitlines() if line.startswith('"')))
    if done.returncode or len(rows) < 2:
        raise SystemExit(f"ncu: status {done.returncode}: {done.stdout[-1500:]} {done.stderr[-1500:]}")
    at = {name: rows[0].index(name) for name in ("ID", "Metric Name", "Metric Value", "Metric Unit")}
    scale = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}
    out = {}
    for row in rows[1:]:
        launch = out.setdefault(int(row[at["ID"]]), 0.0)
        out[int(row[at["ID"]])] = launch + float(row[at["Metric Value"]].replace(",", "")) * scale[row[at["Metric Unit"]]]
    return [out[launch] for launch in sorted(out)]


def seconds(torch, run, rounds=9):
    times = []
    for _ in range(rounds + 2):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e-3)
    return statistics.median(times[2:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--program")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--json")
    parser.add_argument("--launch", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.library = os.path.abspath(args.library)
    if args.launch:
        launch_all(args)
        return 0
    todo = cases(args.program)
    moved, within, complaints = bytes_by_launch(args, todo), 0, []
    if len(moved) <= len(todo):
        raise SystemExit(f"ncu saw {len(moved)} kernels, expected more than {len(todo)}")
    for case, count in zip(todo, moved):
        case["moved"] = count
        ratio = case["predicted"] / count
        within += abs(ratio - 1) <= WITHIN
        print(f"{case['target']:10} {case['variant']:15} D{case['d']:<4} {str(case['shape']):22} {'fitted' if case['fitted'] else '':6} moved {count * 1e-6:8.1f} MB, predicted / moved {ratio:.3f}, moved / compulsory {count / case['compulsory']:.3f}")
    print(f"{within} of {len(todo)} within 15 %")
    if within < LEAST:
        complaints.append(f"{within} launches are predicted within 15 %, expected {LEAST}")
    import torch
    b, h, s, d = GPT2
    gpt2 = next(case for case in todo if not case["fitted"] and case["variant"] == "plain" and (*case["shape"][:2], case["shape"][3], case["d"]) == GPT2)
    tensors, library = tensors_of(torch, gpt2), tilewright.Library(args.library)
    fused = seconds(torch, library.build("plain", "bf16", d).bind(tensors))
    apart = seconds(torch, lambda: unfused(tensors["Q"], tensors["K"], tensors["V"]))
    kernels = moved[len(todo):]
    print(f"GPT-2's shape {GPT2}: fused {gpt2['moved'] * 1e-6:.1f} MB, {gpt2['moved'] / gpt2['compulsory']:.3f} of the compulsory, {fused * 1e3:.3f} ms; "
          f"PyTorch without fusion {sum(kernels) * 1e-6:.1f} MB in {len(kernels)} kernels, {apart * 1e3:.3f} ms")
    if gpt2["moved"] > MOST * gpt2["compulsory"]:
        complaints.append(f"at GPT-2's shape {gpt2['moved'] / gpt2['compulsory']:.3f} of the compulsory bytes are moved, expected {MOST} at most")
    if args.json:
        json.dump({"launches": todo, "unfused": kernels, "seconds": {"fused": fused, "unfused": apart}}, open(args.json, "w"), indent=0)
    for complaint in complaints:
        print("WRONG:", complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
