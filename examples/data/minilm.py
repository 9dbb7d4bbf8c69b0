"""all-MiniLM-L6-v2 in NumPy: a reader of its weights, its tokenizer and its forward pass.

Weights are float32; the arithmetic is float64, so that results rounded to float16 do not depend on the
BLAS, its threads or the processor.
"""
import json
import math
import re
import struct
import unicodedata

import numpy as np

HEADS = 12
LAYERS = 6
NORM_EPSILON = 1e-12


def readSafetensors(data):
    """The float32 tensors of a .safetensors file, by name, as float64."""
    (headerBytes,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + headerBytes])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = (8 + headerBytes + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"]).astype(np.float64)
    return tensors


class Tokenizer:
    """BERT's uncased WordPiece: lower case, split at spaces and punctuation, longest pieces first."""

    def __init__(self, vocabulary):
        self.ids = {piece: i for i, piece in enumerate(vocabulary.split("\n"))}

    def words(self, text):
        text = unicodedata.normalize("NFD", text.lower())
        text = "".join(c for c in text if unicodedata.category(c) != "Mn")
        return re.findall(r"[^\W_]+|[^\w\s]|_", text)

    def pieces(self, word):
        found, begin = [], 0
        while begin < len(word):
            for end in range(len(word), begin, -1):
                piece = ("##" if begin else "") + word[begin:end]
                if piece in self.ids:
                    break
            else:
                return ["[UNK]"]
            found.append(piece)
            begin = end
        return found

    def encode(self, text, limit=512):
        """Token ids between [CLS] and [SEP], `limit` of them at most, the two included."""
        pieces = [piece for word in self.words(text) for piece in self.pieces(word)]
        return [self.ids[p] for p in ["[CLS]", *pieces[: limit - 2], "[SEP]"]]


erf = np.vectorize(math.erf, otypes=[float])


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


class Model:
    """The encoder of six layers; `tensors` as readSafetensors() returns them."""

    def __init__(self, tensors):
        self.tensors = tensors

    def linear(self, name, x):
        return x @ self.tensors[name + ".weight"].T + self.tensors[name + ".bias"]

    def norm(self, name, x):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + NORM_EPSILON)
        return scaled * self.tensors[name + ".weight"] + self.tensors[name + ".bias"]

    def forward(self, ids):
        """The last hidden states [S, 384] and, of each layer, what its attention computed:
        q, k, v [12, S, 32], heads joined after attention [S, 384], after the projection [S, 384]."""
        x = (
            self.tensors["embeddings.word_embeddings.weight"][ids]
            + self.tensors["embeddings.position_embeddings.weight"][: len(ids)]
            + self.tensors["embeddings.token_type_embeddings.weight"][0]
        )
        x = self.norm("embeddings.LayerNorm", x)
        split = lambda y: y.reshape(len(ids), HEADS, -1).transpose(1, 0, 2)  # [S, 384] -> [12, S, 32]
        layers = []
        for n in range(LAYERS):
            layer = f"encoder.layer.{n}."
            q, k, v = (split(self.linear(layer + "attention.self." + part, x)) for part in ("query", "key", "value"))
            weights = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
            joined = (weights @ v).transpose(1, 0, 2).reshape(len(ids), -1)
            projected = self.linear(layer + "attention.output.dense", joined)
            layers.append({"q": q, "k": k, "v": v, "joined": joined, "projected": projected})
            x = self.norm(layer + "attention.output.LayerNorm", x + projected)
            y = self.linear(layer + "intermediate.dense", x)
            y = y * 0.5 * (1 + erf(y / np.sqrt(2)))
            x = self.norm(layer + "output.LayerNorm", x + self.linear(layer + "output.dense", y))
        return x, layers

    def embed(self, ids):
        """The unit sentence vector [384]: the mean of the last hidden states."""
        mean = self.forward(ids)[0].mean(0)
        return mean / np.linalg.norm(mean)
