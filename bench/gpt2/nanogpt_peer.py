"""nanoGPT's training steps, timed: what compare.py and compare_scaling.py run beside nereid-gpt2."""

import statistics
import sys

# Layers, heads, width.
SHAPES = {"124M": (12, 12, 768), "350M": (24, 16, 1024), "774M": (36, 20, 1280), "1558M": (48, 25, 1600)}
VOCABULARY = 50257


def timed_steps(o, seed, forward_of):
    """The median step of `o.steps`, in milliseconds, and the most memory, in bytes, on the current device of PyTorch.

    `o`: nanogpt, a checkout; model, of SHAPES; batch, whose first is taken; length; steps. `forward_of(model)` is what is
    called with a batch: the model, compiled, or spread over processes.
    """
    sys.path.insert(0, o.nanogpt)
    import torch
    from model import GPT, GPTConfig  # nanoGPT's

    torch.manual_seed(seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    layers, heads, width = SHAPES[o.model]
    x, y = (torch.randint(VOCABULARY, (o.batch[0], o.length), device="cuda") for _ in range(2))
    model = GPT(GPTConfig(block_size=o.length, n_layer=layers, n_head=heads, n_embd=width, dropout=0.0, bias=False)).cuda()
    optimizer = model.configure_optimizers(weight_decay=0.1, learning_rate=6e-4, betas=(0.9, 0.95), device_type="cuda")
    forward = forward_of(model)

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            _, loss = forward(x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for _ in range(10):
        step()
    torch.cuda.reset_peak_memory_stats()
    times = []
    for _ in range(o.steps):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        step()
        end.record()
        times.append((begin, end))
    torch.cuda.synchronize()
    return {"milliseconds": statistics.median(b.elapsed_time(e) for b, e in times), "memory": torch.cuda.max_memory_allocated()}
