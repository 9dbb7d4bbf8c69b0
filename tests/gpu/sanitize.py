#!/usr/bin/env python3
"""A few launches of each kind of kernel, for a checker to watch: python3 tests/gpu/sanitize.py LIBRARY. sanitize.sh runs it.

Memory that torch allocates is not cached, so that each tensor is an allocation of its own. What is not launched by us is kept small: all of
it is watched too. With `--build` the kernels are only built, into TILEWRIGHT_CACHE; `--target=NAME`: for another target than h200.
"""
import os
import sys

os.environ.setdefault("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")

from kernels import Spec, build, tilewright  # noqa: E402

ATTENTION = ((Spec("plain", "bf16", 64, 64), (1, 2, 1, 130, 200)), (Spec("causal", "f16", 128, 128), (1, 2, 2, 150, 300)),
             (Spec("causal", "bf16", 40, 40), (2, 3, 1, 129, 70)), (Spec("gemma2+alibi", "bf16", 64, 128), (1, 2, 1, 70, 260)))
SEVERAL = (Spec("causal", "bf16", 64, 64), (1, 2, 1, 200, 260))   # under Hopper's schedule of several blocks a multiprocessor, whatever its lengths speak for
SMALL_BLOCKS = "schedule=block=q d=64 e=64 k=64 q=64 warpgroups=1 stages=3 blockBuffers=2 overlap=yes turns=no drawn=yes stabilised=yes blocksPerSM=3"
GEMM = (Spec("program:gemm", "bf16", 0, 64), (150, 200))


def inputs(torch, dtype, *shapes):
    """Random tensors that are written whole on the GPU's side, by one copy each."""
    return [torch.randn(shape).to(dtype).cuda() for shape in shapes]


def finite(torch, named):
    """Looks at the outputs on the CPU, which is not watched."""
    for name, tensor in named.items():
        values = tensor.cpu().double()
        if bool(values.isnan().any()):
            raise SystemExit(f"{name} has NaN in it")


def main():
    library = tilewright.Library(sys.argv[1])
    target = next((word.removeprefix("--target=") for word in sys.argv if word.startswith("--target=")), "h200")
    kernels = {spec: build(library, spec, target) for spec, _ in ATTENTION + (GEMM,)}
    launched = ATTENTION
    if target == "h200":
        launched += (SEVERAL,)
        kernels[SEVERAL[0]] = build(library, SEVERAL[0], target, SMALL_BLOCKS)
    if "--build" in sys.argv:
        return
    import torch
    types = {"f16": torch.float16, "bf16": torch.bfloat16}
    torch.manual_seed(0)
    for spec, (b, h, hkv, sq, skv) in launched:
        dtype = types[spec.dtype]
        q, k, v = inputs(torch, dtype, (b, h, sq, spec.d), (b, hkv, skv, spec.d), (b, hkv, skv, spec.dv))
        outputs = {"O": torch.empty(b, h, sq, spec.dv, dtype=dtype, device="cuda"), "lse": torch.empty(b, h, sq, dtype=torch.float32, device="cuda")}
        tensors = {"Q": q, "K": k, "V": v, **outputs}
        if "alibi" in spec.name:
            tensors["slopes"] = torch.tensor([2.0 ** -(i + 1) for i in range(h)], dtype=torch.float32).cuda()
        launch = kernels[spec].bind(tensors)
        for _ in range(2):
            launch()
        torch.cuda.synchronize()
        finite(torch, outputs)
    spec, (t, v) = GEMM
    x, w = inputs(torch, types[spec.dtype], (t, v), (v, spec.dv))
    y = torch.empty(t, spec.dv, dtype=types[spec.dtype], device="cuda")
    kernels[spec].bind({"X": x, "W": w, "Y": y})()
    torch.cuda.synchronize()
    finite(torch, {"Y": y})
    print("all launches ran")


if __name__ == "__main__":
    main()
