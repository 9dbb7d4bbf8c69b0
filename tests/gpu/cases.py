"""One launch of a variant, checked: inputs in some layout, outputs between guards, float64 beside."""
from typing import NamedTuple, Optional

import oracle
from kernels import Spec

GUARD = 1024          # elements before and after what a view covers; keeps the alignment of 16 bytes
SENTINEL = 30000.0    # exact in f16, f32; in bf16 some number near it


class Case(NamedTuple):
    spec: Spec
    b: int
    h: int
    hkv: int
    sq: int
    skv: int
    layout: str = "dense"             # see strides_of
    spread: float = 1.0               # standard deviation of Q and K
    poison: Optional[tuple] = None    # (tensor, value, keys): those rows of K or V hold the value
    rising: bool = False              # keys grow towards the first: a fold that ends there meets ever larger scores
    broadcast: bool = False           # all batches have the same K and V, by a stride of 0

    def __str__(self):
        extra = "".join(f" {n}={getattr(self, n)}" for n in ("layout", "spread", "poison", "rising", "broadcast") if getattr(self, n) != Case._field_defaults[n])
        return f"{self.spec} B {self.b} H {self.h} Hkv {self.hkv} Sq {self.sq} Skv {self.skv}{extra}"


def torch_type(torch, name):
    return {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[name]


def strides_of(shape, layout):
    """Strides of [B, H, S, D] and how many elements it spans. dense; bshd, sbhd: memory in that order; padded: 8 elements after each row, 3
    rows after each head."""
    order = {"dense": (3, 2, 1, 0), "padded": (3, 2, 1, 0), "bshd": (3, 1, 2, 0), "sbhd": (3, 1, 0, 2)}[layout]
    strides, step = [0] * 4, 1
    for d in order:
        strides[d] = step
        step *= max(1, shape[d])
        if layout == "padded":
            step += {3: 8, 2: 3 * strides[2]}.get(d, 0)
    return strides, step


def place(torch, shape, layout, dtype, fill):
    """A view of that layout in a buffer that is full of `fill`, and the buffer."""
    strides, count = strides_of(shape, layout) if len(shape) == 4 else (list(torch.empty(shape, device="meta").stride()), max(1, torch.Size(shape).numel()))
    buffer = torch.full((count + 2 * GUARD,), fill, dtype=dtype, device="cuda")
    return buffer.as_strided(shape, strides, GUARD), buffer


def guards_broken(torch, what, view, buffer):
    """None, or a text: where memory beside the view was written."""
    outside = torch.ones(buffer.shape, dtype=torch.bool, device=buffer.device)
    outside.as_strided(view.shape, view.stride(), GUARD).fill_(False)
    wrong = outside & (buffer != torch.full((1,), SENTINEL, dtype=buffer.dtype, device=buffer.device))
    if not bool(wrong.any()):
        return None
    return f"{what}: {int(wrong.sum())} elements beside it were written, the first {int(wrong.nonzero()[0]) - GUARD} elements from its start"


class Problem:
    """Tensors of a case. What lies beside the inputs in memory is NaN."""

    def __init__(self, torch, case):
        spec, self.torch, self.case = case.spec, torch, case
        dtype = torch_type(torch, spec.dtype)
        torch.manual_seed(hash((case.b, case.h, case.sq, case.skv, spec.d)) & 0xffff)

        def given(shape, layout, spread):
            view, _ = place(torch, shape, layout, dtype, float("nan"))
            view.copy_(torch.randn(shape, device="cuda") * spread)
            return view
        self.q = given((case.b, case.h, case.sq, spec.d), case.layout, case.spread)
        self.k = given((case.b, case.hkv, case.skv, spec.d), case.layout, case.spread)
        self.v = given((case.b, case.hkv, case.skv, spec.dv), case.layout, 1)
        if case.rising:
            self.k.mul_((1 + 0.05 * torch.arange(case.skv, 0, -1, device="cuda"))[:, None])
        if case.broadcast:
            self.k, self.v = (x[:1].expand(case.b, -1, -1, -1) for x in (self.k, self.v))
        self.slopes = torch.tensor([2.0 ** (-8 * (i + 1) / case.h) for i in range(case.h)], dtype=torch.float32, device="cuda") if "alibi" in spec.name else None
        self.outputs = self.fresh_outputs()

    def fresh_outputs(self):
        torch, case, spec = self.torch, self.case, self.case.spec
        return {"O": place(torch, (case.b, case.h, case.sq, spec.dv), case.layout, torch_type(torch, spec.dtype), SENTINEL),
                "lse": place(torch, (case.b, case.h, case.sq), "dense", torch.float32, SENTINEL)}

    def tensors(self, outputs=None):
        named = {"Q": self.q, "K": self.k, "V": self.v, **{n: view for n, (view, _) in (outputs or self.outputs).items()}}
        if self.slopes is not None:
            named["slopes"] = self.slopes
        return named

    def check(self, outputs=None, rows=None):
        """None, or what is wrong. `rows` [Sq]: the rows that count."""
        torch, case, spec = self.torch, self.case, self.case.spec
        o, lse, weighted, size, moved = oracle.attention(torch, spec.name, self.q, self.k, self.v, self.slopes)
        results = outputs or self.outputs
        at = None if rows is None else rows[None, None, :]
        wrong = [oracle.difference(torch, "O", results["O"][0], o, oracle.allowed_output(spec.dtype, o, weighted, size, moved, case.skv + spec.d), None if at is None else at[..., None]),
                 oracle.difference(torch, "lse", results["lse"][0], lse, oracle.allowed_lse(lse, size, moved, spec.d), at)]
        empty = lse == -float("inf")
        if bool((results["O"][0][empty] != 0).any()):
            wrong.append("O is not exactly 0 in a row without a key")
        wrong += [guards_broken(torch, name, view, buffer) for name, (view, buffer) in results.items()]
        return "; ".join(w for w in wrong if w) or None


def run(torch, kernels, case):
    """None, or what is wrong with one launch of the case."""
    problem = Problem(torch, case)
    rows = None
    if case.poison:
        tensor, value, keys = case.poison
        poisoned = {"K": problem.k, "V": problem.v}[tensor]
        clean = poisoned.clone()
        poisoned[:, :, keys] = value
        rows = ~sees(torch, case, keys)
    kernels[case.spec].bind(problem.tensors())()
    torch.cuda.synchronize()
    if case.poison:
        poisoned.copy_(clean)
    return problem.check(rows=rows)


def sees(torch, case, keys):
    """[Sq]: whether a row sees one of the keys, for variants with masks alone."""
    i = torch.arange(case.sq, device="cuda")[:, None] + (case.skv - case.sq)
    j = torch.tensor(keys, device="cuda")[None, :]
    seen = torch.ones(case.sq, len(keys), dtype=torch.bool, device="cuda")
    for name, numbers in oracle.parts(case.spec.name):
        if name == "causal":
            seen &= j <= i
        elif name == "window":
            seen &= oracle.keep_window(i, j, *(numbers or (127, 0)))
    return seen.any(1)
