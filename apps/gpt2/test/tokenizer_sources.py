"""Tokenizers from the files of others beside the libraries that the files are of: one vocabulary as tokenizer.json (transformers
5, whose tokenizer gives the tokens to compare), as a rank file of tiktoken (tiktoken itself), as OpenAI's encoder.json and
vocab.bpe (tiktoken's reader of them), and as vocab.json and merges.txt (tokenizers). The same mixed text for each.

    .venv/bin/python apps/gpt2/test/tokenizer_sources.py build/bin/nereid-gpt2 [--megabytes=5] [--seed=N]

Sources whose library is not installed are left out, with a line that says so; ends with 77 where tokenizers is not.
"""
import argparse
import base64
import pathlib
import random
import sys
import tempfile

from tokenizers_peer import EDGES, END, Ours, check_tokens, load_theirs, mixed_texts, np, token_files

# GPT-2's, in the form of OpenAI's encoder.py.
PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def compare(name, ours, texts, option, encode, end):
    """`encode`: of the library, a list of tokens of a text."""
    got = np.array(token_files.read_part(ours.prepare(texts, option)), np.int64)
    check_tokens(name, got, texts, map(encode, texts), end)
    print(f"{name}: {sum(len(text.encode()) for text in texts) / 1e6:.1f} MB, {len(got)} tokens, all equal", flush=True)


def transformers_source(ours, texts, pairs, folder, added):
    """save_pretrained's tokenizer.json, with tokens that were added."""
    import transformers
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=load_theirs(pairs), eos_token=END)
    wrapped.add_tokens([transformers.AddedToken(text, normalized=False) for text in added])
    wrapped.save_pretrained(folder)
    assert not (folder / "vocab.json").exists(), "expected transformers 5, which writes tokenizer.json alone"
    loaded = transformers.AutoTokenizer.from_pretrained(folder)
    compare(f"tokenizer.json of transformers {transformers.__version__}", ours, texts, f"--tokenizer={folder}",
            lambda text: loaded(text, add_special_tokens=False)["input_ids"], loaded.convert_tokens_to_ids(END))


def tiktoken_sources(ours, texts, pairs, folder):
    import tiktoken
    import tiktoken.load
    openai = folder / "openai"
    openai.mkdir(parents=True)
    (openai / "encoder.json").write_bytes((pairs / "vocab.json").read_bytes())
    (openai / "vocab.bpe").write_bytes((pairs / "merges.txt").read_bytes())
    ranks = tiktoken.load.data_gym_to_mergeable_bpe_ranks(str(openai / "vocab.bpe"), str(openai / "encoder.json"))
    end = len(ranks)
    library = tiktoken.Encoding("compared", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={END: end})
    path = folder / "compared.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items()))

    def encode(text):
        return library.encode(text, allowed_special="all")

    compare("OpenAI's encoder.json and vocab.bpe, read by tiktoken", ours, texts, f"--tokenizer={openai}", encode, end)
    compare(f"a rank file of tiktoken {tiktoken.__version__}", ours, texts, f"--tokenizer={path}", encode, end)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--megabytes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vocabulary", type=int, default=5000)
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ours = Ours(arguments.program, folder)
        texts = mixed_texts(generator, arguments.megabytes) + [edge for edge in EDGES if edge]
        training = [text.replace(END, "") for text in texts[:2]]
        pairs = ours.prepare(training, f"--train-bpe={arguments.vocabulary}")
        (folder / "pairs").mkdir()
        for file in "vocab.json", "merges.txt":
            (folder / "pairs" / file).write_bytes((pairs / file).read_bytes())
        pairs = folder / "pairs"
        peer = load_theirs(pairs)
        compare("vocab.json and merges.txt, read by tokenizers", ours, texts, f"--tokenizer={pairs}", lambda text: peer.encode(text).ids,
                peer.token_to_id(END))
        added = ["[PAD]", "<|im_start|>", "Nereid"]
        mixed = [text.replace("the", added[i % 3]) if i % 2 else text for i, text in enumerate(texts)]
        for source, call in (("transformers", lambda: transformers_source(ours, mixed, pairs, folder / "transformers", added)),
                             ("tiktoken", lambda: tiktoken_sources(ours, texts, pairs, folder / "tiktoken"))):
            try:
                call()
            except ImportError as error:
                print(f"left out: {source}: {error}")


main()
