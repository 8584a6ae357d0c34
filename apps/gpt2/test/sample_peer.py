"""`nereid-gpt2 sample` beside the generation of `transformers`: greedy text of a random model in float32, with a tokenizer
whose merges are learnt here, as long as the context lasts.

    .venv/bin/python apps/gpt2/test/sample_peer.py build/bin/nereid-gpt2 build/bin/ModelPeer

Ends with 77 where transformers or torch are not installed.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2LMHeadModel
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

CONTEXT = 96
SYLLABLES = ["ka", "lo", "mi", "ré", "zu", " ", " ", "\n", "né", "東", "🙂", "tor"]


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: {' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
    return done


def main():
    program, peer = sys.argv[1:3]
    generator = random.Random(7)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text = "".join(generator.choice(SYLLABLES) for _ in range(20000))
        (folder / "text.txt").write_text(text, encoding="utf-8")
        run(program, "prepare", folder / "text.txt", f"--dataset={folder}/data", "--train-bpe=320")
        vocabulary = len(json.loads((folder / "data" / "vocab.json").read_text(encoding="utf-8")))
        config = {"model_type": "gpt2", "vocab_size": vocabulary, "n_layer": 3, "n_head": 4, "n_embd": 64,
                  "n_positions": CONTEXT}
        (folder / "config.json").write_text(json.dumps(config))
        run(peer, "random", folder / "config.json", folder / "model", vocabulary)
        model = GPT2LMHeadModel.from_pretrained(folder / "model").eval()
        tokenizer = ByteLevelBPETokenizer(str(folder / "data" / "vocab.json"), str(folder / "data" / "merges.txt"))
        for prompt in ("katorlo", "né", "\n", "mi 東"):
            tokens = torch.tensor([tokenizer.encode(prompt).ids])
            count = CONTEXT - tokens.shape[1]
            with torch.no_grad():
                theirs = model.generate(tokens, attention_mask=torch.ones_like(tokens), max_new_tokens=count,
                                        do_sample=False, pad_token_id=0, eos_token_id=None)[0].tolist()
            expected = tokenizer.decode(theirs, skip_special_tokens=False)
            done = run(program, "sample", f"--init_from={folder}/model", f"--dataset={folder}/data", f"--start={prompt}",
                       "--num_samples=2", f"--max_new_tokens={count}", "--temperature=0", "--device=cpu", "--dtype=float32")
            ours = done.stdout.split("\n---------------\n")
            if ours != [expected, expected, ""]:
                sys.exit(f"error: {prompt!r}: expected {expected!r} twice, got {ours!r}")
            if len(set(theirs)) < 4 or "tokens/s (2 samples" not in done.stderr:
                sys.exit(f"error: {prompt!r}: expected varied tokens and a rate, got {theirs} and {done.stderr!r}")
            print(f"{prompt!r}: {count} tokens, equal: {expected[:40]!r}...")


if __name__ == "__main__":
    main()
