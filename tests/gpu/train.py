#!/usr/bin/env python3
"""Trains a small GPT in torch with Tilewright's forward and backward kernels, and with torch's own attention, from the same start on the same data.

    python3 tests/gpu/train.py --library build/lib/libtilewright.so [--steps 200] [--variant causal]

12 layers, 768 wide, 12 heads, 1024 bytes a sequence of this repository's documentation. Prints both loss curves, how far they are apart, and the time of a
step with each kind of attention. Exit status 1 where the losses, each the mean of 10 steps, differ by more than 1e-2. Needs torch with CUDA.
"""
import argparse
import statistics
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(root / "tests" / "bench"))
import tilewright  # noqa: E402

LAYERS, WIDTH, HEADS, LENGTH, BATCH = 12, 768, 12, 1024, 8
MOST = 1e-2
WINDOW = 10   # steps of which the mean loss is compared: single ones wander, with torch's own kernels too


def ours(torch, library, variant):
    """softmax(Q K^T / sqrt(D)) V and its gradients through the C functions."""
    kernels = library.build_gradient(variant, "bf16", WIDTH // HEADS)

    class Attention(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, k, v):
            tensors = {"Q": q, "K": k, "V": v, "O": torch.empty_like(q), "lse": torch.empty(q.shape[:3], device=q.device)}
            ctx.workspace = kernels.workspace(tensors)
            kernels.forward(tensors, ctx.workspace)
            ctx.save_for_backward(*tensors.values())
            return tensors["O"]

        @staticmethod
        def backward(ctx, derivative):
            tensors = dict(zip(("Q", "K", "V", "O", "lse"), ctx.saved_tensors))
            gradients = {"d" + name: torch.empty_like(tensors[name]) for name in "QKV"}
            kernels.backward({**tensors, "dO": derivative, **gradients}, ctx.workspace)
            return tuple(gradients.values())
    return Attention.apply


def torchs(torch, backend):
    import torch.nn.functional as F
    from torch.nn.attention import sdpa_kernel

    def attention(q, k, v):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return attention


def unfused(torch):
    mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool, device="cuda").tril()

    def attention(q, k, v):
        score = (q @ k.mT) * (q.shape[-1] ** -0.5)
        return score.masked_fill(~mask, float("-inf")).softmax(-1).to(v.dtype) @ v
    return attention


def model(torch, attention):
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.heads, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.wide = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

        def forward(self, x):
            b, s, _ = x.shape
            q, k, v = self.heads(self.before(x)).view(b, s, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
            x = x + self.out(attention(q, k, v).transpose(1, 2).reshape(b, s, WIDTH))
            return x + self.wide(self.between(x))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.bytes, self.places = nn.Embedding(256, WIDTH), nn.Embedding(LENGTH, WIDTH)
            self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
            self.last, self.next = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 256)

        def forward(self, tokens):
            x = self.bytes(tokens) + self.places.weight
            return self.next(self.last(self.blocks(x)))
    torch.manual_seed(0)
    return Gpt().cuda()


def text():
    """Bytes that every copy of this repository has."""
    return b"\n".join(path.read_bytes() for path in sorted((root / "docs").glob("*.md")))


def train(torch, attention, steps, data):
    """The loss of each step, and the milliseconds of one."""
    import torch.nn.functional as F
    gpt = model(torch, attention)
    optimiser = torch.optim.AdamW(gpt.parameters(), lr=3e-4, weight_decay=0.1, fused=True)
    random = torch.Generator().manual_seed(1)
    losses, times = [], []
    for step in range(steps):
        at = torch.randint(len(data) - LENGTH - 1, (BATCH,), generator=random)
        tokens = torch.stack([data[i:i + LENGTH + 1] for i in at]).cuda()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for group in optimiser.param_groups:
            group["lr"] = 3e-4 * min(1, (step + 1) / 20)
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.cross_entropy(gpt(tokens[:, :-1]).float().flatten(0, 1), tokens[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(gpt.parameters(), 1.0)
        optimiser.step()
        end.record()
        torch.cuda.synchronize()
        losses.append(loss.item())
        times.append(start.elapsed_time(end))
    return losses, statistics.median(times[steps // 4:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--variant", default="causal")
    args = parser.parse_args()
    import torch
    from torch.nn.attention import SDPBackend
    library = tilewright.Library(args.library)
    data = torch.frombuffer(bytearray(text()), dtype=torch.uint8).long()
    kinds = {"Tilewright": (ours(torch, library, args.variant), args.steps), "torch, cuDNN": (torchs(torch, SDPBackend.CUDNN_ATTENTION), args.steps),
             "torch, FlashAttention": (torchs(torch, SDPBackend.FLASH_ATTENTION), args.steps), "torch, unfused": (unfused(torch), max(20, args.steps // 5))}
    curves = {}
    for name, (attention, steps) in kinds.items():
        curves[name], milliseconds = train(torch, attention, steps, data)
        marks = [f"{statistics.mean(curves[name][i:i + WINDOW]):.4f}" for i in range(0, steps - WINDOW + 1, max(WINDOW, steps // 10))]
        print(f"{name:22} {milliseconds:7.2f} ms a step; losses, means of {WINDOW} steps: {' '.join(marks)}", flush=True)

    def apart(a, b):
        count = min(len(curves[a]), len(curves[b]))
        means = [[statistics.mean(curves[x][i:i + WINDOW]) for i in range(0, count - WINDOW + 1, WINDOW)] for x in (a, b)]
        return max(abs(x - y) for x, y in zip(*means)), statistics.mean(abs(x - y) for x, y in zip(curves[a][:count], curves[b][:count]))
    most, mean = apart("Tilewright", "torch, FlashAttention")
    other, _ = apart("torch, cuDNN", "torch, FlashAttention")
    holds = most <= MOST
    print(f"{'ok' if holds else 'FAIL'}: Tilewright and FlashAttention are {most:.4f} apart at most, {mean:.4f} a step; cuDNN and FlashAttention {other:.4f} at most")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
