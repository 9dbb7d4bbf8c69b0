"""Fold programs of other kinds than the gallery's, on the GPU: the texts of programs/ against float64."""
import math

import oracle
from cases import torch_type
from kernels import Spec

NAMES = ("gemm", "row_sums_of_abs", "linear_log_sum_exp", "sums_under_masks", "sigmoid_weights")

WIDE = {"linear_log_sum_exp": (264, 4096), "sums_under_masks": (520,)}   # inner axes that are walked in chunks


def specs(name, dims, dtypes):
    def spec(dtype, d):
        inner = {"gemm": (0, d), "sigmoid_weights": (d, d)}.get(name, (d, 0))
        return Spec("program:" + name, dtype, *inner)
    return [spec(dtype, d) for dtype in dtypes for d in dims]


def matrix(torch, rows, columns, dtype):
    """Random numbers whose rows are 8 elements or more apart from the next, at a multiple of 16 bytes; NaN between them."""
    pitch = (columns + 7) // 8 * 8 + 8
    buffer = torch.full((rows, pitch), float("nan"), dtype=torch_type(torch, dtype), device="cuda")
    view = buffer[:, :columns]
    view.copy_(torch.randn(rows, columns, device="cuda"))
    return view


def launch(torch, kernel, inputs, outputs, scalars=None):
    kernel.bind({**inputs, **outputs}, scalars)()
    torch.cuda.synchronize()


def check(torch, kernels, spec, t, v):
    """None, or what is wrong with one launch over `t` rows and `v` steps of the fold."""
    torch.manual_seed(7)
    name = spec.name.removeprefix("program:")
    wrong = CHECKS[name](torch, kernels[spec], spec, t, v)
    return "; ".join(w for w in wrong if w) or None


def floats(torch, *shape, dtype=None):
    return torch.full(shape, float("nan"), dtype=dtype or torch.float32, device="cuda")


def check_gemm(torch, kernel, spec, t, v):
    x, w = matrix(torch, t, v, spec.dtype), matrix(torch, v, spec.dv, spec.dtype)
    y = floats(torch, t, spec.dv, dtype=x.dtype)
    launch(torch, kernel, {"X": x, "W": w}, {"Y": y})
    want, bound = x.double() @ w.double(), x.double().abs() @ w.double().abs()
    return [oracle.difference(torch, "Y", y, want, bound * 8 * oracle.SUMS * math.sqrt(v + 1) + oracle.ROUNDOFF[spec.dtype] * want.abs() + 1e-30)]


def product(torch, spec, t, v):
    """X, W, X·Wᵀ in float64, and what each of its elements may be off by in f32."""
    x, w = matrix(torch, t, spec.d, spec.dtype), matrix(torch, v, spec.d, spec.dtype)
    z, size = x.double() @ w.double().T, x.double().abs() @ w.double().abs().T
    return x, w, z, 8 * oracle.SUMS * math.sqrt(spec.d) * size


def summed(values, errors, v):
    """A sum over the last axis, and what it may be off by."""
    return values.sum(-1), errors.sum(-1) + 8 * oracle.SUMS * math.sqrt(v + 1) * values.abs().sum(-1) + 1e-30


def largest(torch, z, errors):
    if z.shape[1] == 0:
        return torch.full(z.shape[:1], -math.inf, dtype=torch.float64, device="cuda"), torch.zeros(z.shape[:1], dtype=torch.float64, device="cuda")
    return z.amax(-1), errors.amax(-1) + 1e-30


def check_row_sums(torch, kernel, spec, t, v):
    x, w, z, errors = product(torch, spec, t, v)
    r = floats(torch, t)
    launch(torch, kernel, {"X": x, "W": w}, {"R": r})
    return [oracle.difference(torch, "R", r, *summed(z.abs(), errors, v))]


def check_log_sum_exp(torch, kernel, spec, t, v):
    x, w, z, errors = product(torch, spec, t, v)
    lse, best = floats(torch, t), floats(torch, t)
    launch(torch, kernel, {"X": x, "W": w}, {"lse": lse, "best": best})
    top, moved = largest(torch, z, errors)
    total = torch.logsumexp(z, -1) if v else top
    allowed = moved + 2.0 ** -20 * (1 + total.abs().masked_fill(total == -math.inf, 0)) + 8 * oracle.SUMS * math.sqrt(v + 1)
    return [oracle.difference(torch, "lse", lse, total, allowed), oracle.difference(torch, "best", best, top, moved)]


def check_sums_under_masks(torch, kernel, spec, t, v):
    x, w, z, errors = product(torch, spec, t, v)
    outputs = {name: floats(torch, t) for name in ("A", "B", "C")}
    launch(torch, kernel, {"X": x, "W": w}, outputs)
    i, j = torch.arange(t, device="cuda")[:, None], torch.arange(v, device="cuda")[None, :]
    first, near = j <= i, i - j < 90
    return [oracle.difference(torch, "A", outputs["A"], *summed(torch.where(first, z, 1.0), errors * first, v)),
            oracle.difference(torch, "B", outputs["B"], *summed(torch.where(near, z, 0.0).abs(), errors * near, v)),
            oracle.difference(torch, "C", outputs["C"], *largest(torch, z, errors))]


def check_sigmoid_weights(torch, kernel, spec, t, v):
    b, h, hkv, scale, dtype = 2, 4, 2, 1 / math.sqrt(spec.d), torch_type(torch, spec.dtype)
    q, k, values = (torch.randn(b, heads, length, d, device="cuda").to(dtype) for heads, length, d in ((h, t, spec.d), (hkv, v, spec.d), (hkv, v, spec.dv)))
    o = floats(torch, b, h, t, spec.dv, dtype=dtype)
    launch(torch, kernel, {"Q": q, "K": k, "V": values}, {"O": o}, {"scale": scale})
    q, k, values = q.double(), k.double().repeat_interleave(h // hkv, 1), values.double().repeat_interleave(h // hkv, 1)
    keep = torch.arange(v, device="cuda")[None, :] <= torch.arange(t, device="cuda")[:, None] + (v - t)
    weights = torch.sigmoid(q @ k.mT * scale - 3) * keep
    size = (q.abs() @ k.abs().mT * scale).amax(-1, keepdim=True).clamp(min=8) if v else 8
    u = oracle.ROUNDOFF[spec.dtype]
    want = weights @ values
    return [oracle.difference(torch, "O", o, want, weights @ values.abs() * (2 * u + 8 * oracle.SUMS * math.sqrt(v + spec.d) * size) + u * want.abs() + 1e-30)]


CHECKS = {"gemm": check_gemm, "row_sums_of_abs": check_row_sums, "linear_log_sum_exp": check_log_sum_exp, "sums_under_masks": check_sums_under_masks,
          "sigmoid_weights": check_sigmoid_weights}
