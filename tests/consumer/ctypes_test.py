"""The shared library from Python by ctypes alone: a variant is built, launched on the CPU, and right."""
import array
import ctypes
import math
import random
import sys


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("type", ctypes.c_char_p), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]


class Scalar(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_double)]


class Arguments(ctypes.Structure):
    _fields_ = [("tensors", ctypes.POINTER(Tensor)), ("tensor_count", ctypes.c_size_t), ("scalars", ctypes.POINTER(Scalar)), ("scalar_count", ctypes.c_size_t)]


def view(name, memory, shape):
    return Tensor(name.encode(), memory.buffer_info()[0], b"f32", len(shape), (ctypes.c_int64 * len(shape))(*shape), None)


def check(condition, what):
    if not condition:
        sys.exit(f"{what}; tilewright_error(): {tilewright.tilewright_error().decode()}")


tilewright = ctypes.CDLL(sys.argv[1])
tilewright.tilewright_error.restype = ctypes.c_char_p
tilewright.tilewright_describe.restype = ctypes.c_char_p
tilewright.tilewright_describe.argtypes = tilewright.tilewright_release.argtypes = [ctypes.c_void_p]
tilewright.tilewright_run.argtypes = [ctypes.c_void_p, ctypes.POINTER(Arguments)]
tilewright.tilewright_build.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]

SEQUENCE, D = 9, 8
random.seed(1)
q, k, v = (array.array("f", [random.gauss(0, 1) for _ in range(SEQUENCE * D)]) for _ in range(3))
o, lse = array.array("f", [math.nan] * (SEQUENCE * D)), array.array("f", [math.nan] * SEQUENCE)

kernel = ctypes.c_void_p()
check(tilewright.tilewright_build(b"causal", b"f32", D, D, None, b"cache=off", ctypes.byref(kernel)) == 0, "the variant was not built")
check(tilewright.tilewright_describe(kernel).startswith(b"kernel causal\n"), "the description is of something else")
shape = [1, 1, SEQUENCE, D]
tensors = (Tensor * 5)(view("Q", q, shape), view("K", k, shape), view("V", v, shape), view("O", o, shape), view("lse", lse, shape[:3]))
arguments = Arguments(tensors, 5, None, 0)
check(tilewright.tilewright_run(kernel, ctypes.byref(arguments)) == 0, "it was not launched")
for i in range(SEQUENCE):
    weights = [math.exp(sum(q[i * D + d] * k[j * D + d] for d in range(D)) / math.sqrt(D)) for j in range(i + 1)]
    check(abs(lse[i] - math.log(sum(weights))) < 1e-5, f"lse[{i}] is {lse[i]}")
    for d in range(D):
        mean = sum(w * v[j * D + d] for j, w in enumerate(weights)) / sum(weights)
        check(abs(o[i * D + d] - mean) < 1e-5, f"O[{i}, {d}] is {o[i * D + d]}, expected {mean}")

arguments.tensor_count = 4
check(tilewright.tilewright_run(kernel, ctypes.byref(arguments)) == 3, "a launch without lse was accepted")
check(b"tensor 'lse' is missing" in tilewright.tilewright_error(), "the refusal says something else")
tilewright.tilewright_release(kernel)
