"""A small GPT on the characters of this file, its layer norms by the package `kernels`, beside the same with torch's:
python -m nereid train.py [STEPS]"""
import pathlib
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    from kernels import TRITON_AVAILABLE, triton_layer_norm
    USE_TRITON = TRITON_AVAILABLE
except ImportError:
    USE_TRITON, triton_layer_norm = False, None

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class LayerNorm(nn.Module):

    def __init__(self, width, use_triton):
        super().__init__()
        self.weight, self.bias, self.use_triton = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width)), use_triton

    def forward(self, x):
        if self.use_triton:
            return triton_layer_norm(x, self.weight, self.bias, 1e-5)
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class Block(nn.Module):

    def __init__(self, width, heads, use_triton):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = LayerNorm(width, use_triton), LayerNorm(width, use_triton)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (part.view(B, T, self.heads, -1).transpose(1, 2) for part in self.attend(self.norm1(x)).split(C, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(y.transpose(1, 2).reshape(B, T, C))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):

    def __init__(self, vocabulary, length, width, use_triton):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, 4, use_triton) for _ in range(2)))
        self.norm, self.head = LayerNorm(width, use_triton), nn.Linear(width, vocabulary, bias=False)

    def forward(self, x, y):
        h = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
        return F.cross_entropy(self.head(self.norm(self.blocks(h))).flatten(0, 1), y.flatten())


def train(text, steps, use_triton, length=32, width=48):
    torch.manual_seed(0)
    letters = sorted(set(text))
    data = torch.tensor([letters.index(letter) for letter in text], device=DEVICE)
    model = GPT(len(letters), length, width, use_triton).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(steps):
        starts = torch.randint(0, len(text) - length - 1, (8, ))
        x, y = (torch.stack([data[i + shift:i + shift + length] for i in starts]) for shift in (0, 1))
        loss = model(x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main(steps=20):
    print(f"Using Triton-accelerated LayerNorm: {USE_TRITON}")
    text = pathlib.Path(__file__).read_text()
    ours, theirs = train(text, steps, USE_TRITON), train(text, steps, False)
    for step in range(0, steps, max(1, steps // 4)):
        print(f"step {step}: loss {ours[step]:.4f}, with torch's layer norm {theirs[step]:.4f}")
    assert max(abs(a - b) for a, b in zip(ours, theirs)) < 1e-2 and ours[-1] < ours[0]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
