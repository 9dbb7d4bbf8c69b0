"""What kernels should compute, in float64, and by how much their results may differ from it.

The bounds are those of tests/support/Compare.h, with sums in f32: Σ a·b with Σ|a·b| = m may be off by m · (2u + 8 · 2^-24 · terms · √depth),
where u is the unit roundoff of the 16-bit type (each weight and each result is rounded to it once) and `terms` is the size of a score, since
a score that is off by δ makes a weight off by the factor e^δ; and the result's own rounding, u · |result|. Where a score is capped, the GPU's
tanh is right to 2^-11 of its value (PTX, tanh.approx.f32), which moves a score by as much of it, and O by up to twice that of the weighted |V|.
"""
import math

ROUNDOFF = {"f16": 2.0 ** -11, "bf16": 2.0 ** -8, "f32": 2.0 ** -24}
SUMS = 2.0 ** -24
TANH = 2.0 ** -10.9


def parts(variant):
    """`window(70,20)+alibi` as [("window", [70, 20]), ("alibi", [])]."""
    out = []
    for text in variant.split("+"):
        name, _, numbers = text.partition("(")
        out.append((name, [float(n) for n in numbers.rstrip(")").split(",")] if numbers else []))
    return out


def keep_window(i, j, left, right):
    keep = (i - j <= left) if left >= 0 else (i == i)
    return keep & (i - j >= -right) if right >= 0 else keep & (j == j)


def attention(torch, variant, q, k, v, slopes=None):
    """O, log-sum-exp, and what bounds their errors: the weights times |V|, the size of each row's scores, and what tanh may
    move them by. Any float tensors in, f64 out."""
    q, k, v = q.double(), k.double(), v.double()
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    sq, skv, scale = q.shape[2], k.shape[2], 1 / math.sqrt(q.shape[3])
    i = torch.arange(sq, device=q.device)[:, None] + (skv - sq)
    j = torch.arange(skv, device=q.device)[None, :]
    scores, size = (q @ k.mT) * scale, (q.abs() @ k.abs().mT) * scale
    moved = torch.zeros(q.shape[:3], dtype=torch.float64, device=q.device)
    for name, numbers in parts(variant):
        if name == "causal":
            scores = scores.masked_fill(j > i, -math.inf)
        elif name == "window":
            left, right = numbers or (127, 0)
            scores = scores.masked_fill(~keep_window(i, j, left, right), -math.inf)
        elif name in ("softcap", "gemma2"):
            cap = (numbers or [50])[0]
            scores = cap * torch.tanh(scores / cap)
            if skv:
                moved = moved + TANH * scores.abs().amax(-1)
            if name == "gemma2":
                scores = scores.masked_fill(~keep_window(i, j, 4095, 0), -math.inf)
        elif name == "alibi":
            bias = slopes.double()[:, None, None] * (j - i)
            scores, size = scores + bias, size + bias.abs()
        elif name != "plain":
            raise ValueError(f"variant '{variant}': no oracle for '{name}'")
    if skv == 0:
        empty = torch.zeros(q.shape[:3], dtype=torch.float64, device=q.device)
        o = torch.zeros(*q.shape[:3], v.shape[3], dtype=torch.float64, device=q.device)
        return o, empty - math.inf, o, empty, moved
    size = size.masked_fill(scores == -math.inf, 0).amax(-1)
    top = scores.amax(-1)
    weights = torch.exp(scores - top.masked_fill(top == -math.inf, 0)[..., None])
    total = weights.sum(-1)
    weights = weights / total.masked_fill(total == 0, 1)[..., None]
    return weights @ v, top + torch.log(total), weights @ v.abs(), size, moved


def allowed_output(dtype, o, weighted, size, moved, depth):
    """What O may be off by. Weights that a 16-bit type holds as subnormals are covered by the 2u: they are small beside the largest."""
    u = ROUNDOFF[dtype]
    terms = size.clamp(min=8)[..., None]
    return weighted * (2 * u + 8 * SUMS * math.sqrt(depth) * terms + 2 * moved[..., None]) + u * o.abs() + 1e-30


def allowed_lse(lse, size, moved, d):
    """exp2, log2 and the sum of the weights, 2^-20 of what they yield, and the dots: √D roundings of a score's size, eightfold."""
    return 2.0 ** -20 * (1 + lse.abs().masked_fill(lse == -math.inf, 0)) + 8 * SUMS * math.sqrt(d) * size + moved


def difference(torch, what, got, want, allowed, where=None):
    """None, or a text that names the worst element. NaN is wrong; infinities must be the same. `where` says which elements count."""
    if got.shape != want.shape:
        return f"{what}: shape {tuple(got.shape)}, expected {tuple(want.shape)}"
    if got.numel() == 0:
        return None
    got = got.double()
    error = (got - want).abs()
    wrong = ~((got == want) | (error <= allowed))
    if where is not None:
        wrong &= where
    count = int(wrong.sum())
    if count == 0:
        return None
    excess = torch.where(wrong, torch.nan_to_num(error / allowed, nan=math.inf), -torch.ones_like(error))
    at = int(excess.argmax())
    index, rest = [], at
    for length in reversed(got.shape):
        index.insert(0, rest % length)
        rest //= length
    nans = int((got.isnan() & wrong).sum())
    flat = [x.broadcast_to(got.shape).reshape(-1)[at].item() for x in (got, want, allowed)]
    first = wrong.reshape(-1).nonzero()[0].item()
    return (f"{what}: {count} of {got.numel()} elements are wrong, {nans} of them NaN; worst at {index}: {flat[0]:.9g}, expected {flat[1]:.9g}, "
            f"allowed {flat[2]:.3g}; the first is element {first}")
