"""A small file in the layout of the packed default model, written from its description, with random weights."""

import struct
from pathlib import Path

import numpy as np

HIDDEN, LAYERS, HEADS, FFN, POSITIONS = 32, 2, 2, 64, 64
PIECES = [
    ("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0), ("▁salt", -2.0), ("▁coast", -2.5),
    *((letter, -4.0) for letter in "abcdefghijklmnopqrstuvwxyz:.,漢字"), ("<mask>", 0.0),
]  # fmt: skip


def quantised(random: np.random.Generator, count: int) -> tuple[bytes, np.ndarray]:
    """4-bit blocks and the weights that they stand for, computed one by one."""
    data, weights = b"", []
    for _ in range(count // 32):
        scale = np.float16(random.uniform(0.01, 0.05))
        nibbles = random.integers(0, 16, 32)
        data += scale.tobytes() + bytes(int(nibbles[j] | nibbles[j + 16] << 4) for j in range(16))
        weights += [(int(nibble) - 8) * float(scale) for nibble in nibbles]
    return data, np.array(weights, np.float32)


def pack(path: Path, seed: int = 0) -> dict[str, np.ndarray]:
    """Write the file; answers the weights by the names they have in it."""
    random = np.random.default_rng(seed)
    shapes = {"emb.word": len(PIECES) * HIDDEN, "emb.pos": POSITIONS * HIDDEN, "emb.type": 2 * HIDDEN}
    shapes |= {"emb.ln.w": HIDDEN, "emb.ln.b": HIDDEN}
    for i in range(LAYERS):
        for name, out, into in (
            ("q", HIDDEN, HIDDEN), ("k", HIDDEN, HIDDEN), ("v", HIDDEN, HIDDEN), ("ao", HIDDEN, HIDDEN),
            ("fi", FFN, HIDDEN), ("fo", HIDDEN, FFN),
        ):  # fmt: skip
            shapes |= {f"l{i}.{name}.w": out * into, f"l{i}.{name}.b": out}
        shapes |= {f"l{i}.{norm}.{part}": HIDDEN for norm in ("aln", "oln") for part in "wb"}
    weights, blobs = {}, {}
    for name, count in shapes.items():
        if name == "emb.word" or (name.endswith(".w") and "ln" not in name):
            blobs[name], weights[name] = quantised(random, count)
        else:
            weights[name] = (random.normal(size=count) * 0.1 + name.endswith("ln.w")).astype(np.float32)
            blobs[name] = weights[name].tobytes()
    pieces = [piece.encode() for piece, _ in PIECES]
    head = b"E5S1" + struct.pack(
        "<I7ifi", 1, HIDDEN, LAYERS, HEADS, FFN, len(PIECES), POSITIONS, 2, np.float32(1e-12), 32
    )
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, sum(map(len, pieces)))
    head += np.cumsum([0, *map(len, pieces)]).astype("<u4").tobytes()
    head += np.array([score for _, score in PIECES], "<f4").tobytes() + b"".join(pieces)
    head += struct.pack("<iI", 2, 7) + b"charmap" + struct.pack("<i", len(blobs))
    at = len(head) + sum(2 + len(name) + 21 for name in blobs)
    directory = b""
    for name, blob in blobs.items():
        kind = int(len(blob) != 4 * len(weights[name]))
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, len(weights[name]), at, len(blob))
        at += len(blob)
    path.write_bytes(head + directory + b"".join(blobs.values()))
    return weights
