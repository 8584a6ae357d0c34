#!/usr/bin/env python3
"""The model of main.cpp in PyTorch, with the weights that it saved.

  tutorial_10_your_own_model --save vit.safetensors && vit.py vit.safetensors

Ends with 77 where there is no PyTorch."""
import sys

try:
    import torch
    from safetensors.torch import load_file, load_model
    from torch import nn
except ImportError as error:
    print(f"skipped: {error}; scripts/test-venv makes an environment that has it")
    sys.exit(77)

PATCH, PATCHES, CLASSES = 4, 4, 4


class Block(nn.Module):

    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(4 * width, width))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):

    def __init__(self, width, layers):
        super().__init__()
        self.embed = nn.Linear(PATCH * PATCH, width)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, PATCHES * PATCHES + 1, width))
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, CLASSES)

    def forward(self, images):
        cut = images.view(-1, PATCHES, PATCH, PATCHES, PATCH).permute(0, 1, 3, 2, 4).reshape(-1, PATCHES * PATCHES, PATCH * PATCH)
        x = torch.cat([self.token.expand(cut.shape[0], 1, -1), self.embed(cut)], 1) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, 0]))


path = sys.argv[1]
names = load_file(path)
model = VisionTransformer(names["token"].shape[2], sum(name.endswith("norm1.weight") for name in names))
load_model(model, path)
pictures = load_file(path + ".pictures")
with torch.no_grad():
    difference = (model.eval()(pictures["images"]) - pictures["logits"]).abs().max().item()
print(f"{len(names)} tensors; the logits are within {difference:.1e} of the program's")
sys.exit(difference > 1e-4)
