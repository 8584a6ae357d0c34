"""Reads data sets of nereid-gpt2 prepare, from the description in apps/gpt2/data/Shard.h alone."""
import array
import json
import pathlib
import struct

HEADER = struct.Struct("<8sIIQII32sQQ")


def read_shard(path):
    """The tokens of one file, and the size of their vocabulary."""
    content = pathlib.Path(path).read_bytes()
    magic, version, bits, tokens, vocabulary, block, _, _, _ = HEADER.unpack_from(content)
    assert (magic, version, block) == (b"NRDTOKEN", 1, 65536), f"{path}: {magic}, version {version}, blocks of {block}"
    data_bytes = tokens * bits // 8
    blocks = -(-data_bytes // block)
    assert len(content) == 4096 + -(-data_bytes // 8) * 8 + 8 * blocks, f"{path}: {len(content)} bytes for {tokens} tokens"
    return array.array({16: "H", 32: "I"}[bits], content[4096:4096 + data_bytes]), vocabulary


def read_part(folder, part="train"):
    """All tokens of train or val. Fails unless meta.json and the files agree."""
    meta = json.loads((pathlib.Path(folder) / "meta.json").read_text())
    shards = [read_shard(pathlib.Path(folder) / name) for name in meta[part]["shards"]]
    assert all(vocabulary == meta["vocab_size"] for _, vocabulary in shards), f"{folder}: vocabularies differ"
    tokens = array.array("I")
    for part_tokens, _ in shards:
        tokens.extend(array.array("I", part_tokens))
    assert len(tokens) == meta[part]["tokens"], f"{folder}: {len(tokens)} tokens, {meta[part]['tokens']} in meta.json"
    return tokens


def byte_of_spelling():
    """GPT-2's bytes_to_unicode the other way round."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in seen]
    return {**{chr(b): b for b in seen}, **{chr(256 + i): b for i, b in enumerate(others)}}


def vocabulary_bytes(folder):
    """The bytes of each token, by its number."""
    spelling = byte_of_spelling()
    numbers = json.loads((pathlib.Path(folder) / "vocab.json").read_text())
    return {number: bytes(spelling[c] for c in text) for text, number in numbers.items()}


def decode(tokens, texts):
    return b"".join(texts[token] for token in tokens)
