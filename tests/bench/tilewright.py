"""Tilewright's C API for Python, as far as the benchmarks need it. Needs libtilewright.so and torch."""
import ctypes as c


class Tensor(c.Structure):
    _fields_ = [("name", c.c_char_p), ("data", c.c_void_p), ("type", c.c_char_p), ("rank", c.c_int32),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64))]


class Scalar(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_double)]


class Arguments(c.Structure):
    _fields_ = [("tensors", c.POINTER(Tensor)), ("tensor_count", c.c_size_t), ("scalars", c.POINTER(Scalar)), ("scalar_count", c.c_size_t)]


def pack(tensors, scalars=None):
    """Arguments of a launch, and what must live as long as they do. `tensors`: torch tensors by name."""
    import torch
    names = {torch.float16: b"f16", torch.bfloat16: b"bf16", torch.float32: b"f32", torch.float64: b"f64", torch.int32: b"i32", torch.int64: b"i64", torch.bool: b"bool"}
    views, keep = (Tensor * len(tensors))(), [tensors]
    for view, (name, tensor) in zip(views, tensors.items()):
        shape, strides = (c.c_int64 * tensor.dim())(*tensor.shape), (c.c_int64 * tensor.dim())(*tensor.stride())
        keep += [shape, strides]
        view.name, view.data, view.type, view.rank, view.shape, view.strides = name.encode(), tensor.data_ptr(), names[tensor.dtype], tensor.dim(), shape, strides
    scalars = scalars or {}
    numbers = (Scalar * max(1, len(scalars)))(*[Scalar(name.encode(), value) for name, value in scalars.items()])
    keep += [views, numbers]
    return Arguments(views, len(tensors), numbers, len(scalars)), keep


class Library:
    def __init__(self, path):
        self.lib = c.CDLL(path)
        self.lib.tilewright_error.restype = c.c_char_p
        for describe in (self.lib.tilewright_describe, self.lib.tilewright_describe_gradient):
            describe.restype, describe.argtypes = c.c_char_p, [c.c_void_p]
        for launch in (self.lib.tilewright_launch, self.lib.tilewright_launch_zeroed):
            launch.argtypes = [c.c_void_p, c.c_void_p, c.POINTER(Arguments), c.c_void_p, c.c_size_t]

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.tilewright_error().decode())

    def build(self, variant, dtype, d, dv=None, target="gpu", options=None):
        kernel = c.c_void_p()
        self.check(self.lib.tilewright_build(variant.encode(), dtype.encode(), c.c_int64(d), c.c_int64(dv or d), target.encode(),
                                             options.encode() if options else None, c.byref(kernel)))
        return Kernel(self, kernel)

    def build_gradient(self, variant, dtype, d, dv=None, target="gpu", options=None, outputs="O", inputs="Q K V"):
        """The kernels of a variant and of the gradients of `inputs` by a loss that depends on `outputs`."""
        gradient = c.c_void_p()
        self.check(self.lib.tilewright_build_gradient(variant.encode(), dtype.encode(), c.c_int64(d), c.c_int64(dv or d), target.encode(), options.encode() if options else None,
                                                      outputs.encode(), inputs.encode(), c.byref(gradient)))
        return Gradient(self, gradient)

    def build_program(self, text, extents, target="gpu", options=None):
        kernel = c.c_void_p()
        self.check(self.lib.tilewright_build_program(text.encode(), extents.encode(), target.encode(), options.encode() if options else None, c.byref(kernel)))
        return Kernel(self, kernel)


class Kernel:
    def __init__(self, library, handle):
        self.library, self.handle = library, handle

    def describe(self):
        return self.library.lib.tilewright_describe(self.handle).decode()

    def bind(self, tensors, scalars=None):
        """A callable that queues one launch on the current stream. `tensors`: torch tensors by name, kept alive by it."""
        import torch
        arguments, keep = pack(tensors, scalars)
        size = c.c_size_t()
        lib, check = self.library.lib, self.library.check
        check(lib.tilewright_workspace_bytes(self.handle, c.byref(arguments), c.byref(size)))
        device = next(iter(tensors.values())).device
        workspace = torch.zeros(max(64, size.value), dtype=torch.uint8, device=device)   # every launch leaves it zeroed
        keep.append(workspace)

        def launch():
            check(lib.tilewright_launch_zeroed(self.handle, torch.cuda.current_stream(device).cuda_stream if device.type == "cuda" else None, c.byref(arguments), workspace.data_ptr(), size.value))

        launch.keep = keep
        return launch


class Gradient:
    def __init__(self, library, handle):
        self.library, self.handle = library, handle
        for launch in (library.lib.tilewright_forward, library.lib.tilewright_backward):
            launch.argtypes = [c.c_void_p, c.c_void_p, c.POINTER(Arguments), c.c_void_p, c.c_size_t]
        library.lib.tilewright_gradient_workspace_bytes.argtypes = [c.c_void_p, c.POINTER(Arguments), c.POINTER(c.c_size_t)]

    def describe(self):
        """Of every kernel, one after the other."""
        return self.library.lib.tilewright_describe_gradient(self.handle).decode()

    def workspace(self, tensors):
        """Memory between the kernels, on the tensors' GPU; it belongs to one forward and one backward pass."""
        import torch
        arguments, keep = pack(tensors)
        size = c.c_size_t()
        self.library.check(self.library.lib.tilewright_gradient_workspace_bytes(self.handle, c.byref(arguments), c.byref(size)))
        del keep
        return torch.empty(max(64, size.value), dtype=torch.uint8, device=next(iter(tensors.values())).device)

    def forward(self, tensors, workspace):
        arguments, keep = pack(tensors)
        self.run(self.library.lib.tilewright_forward, arguments, workspace)
        del keep

    def backward(self, tensors, workspace):
        arguments, keep = pack(tensors)
        self.run(self.library.lib.tilewright_backward, arguments, workspace)
        del keep

    def run(self, launch, arguments, workspace):
        import torch
        stream = torch.cuda.current_stream(workspace.device).cuda_stream if workspace.device.type == "cuda" else None
        self.library.check(launch(self.handle, stream, c.byref(arguments), workspace.data_ptr(), workspace.numel()))

    def bind(self, tensors, spoil=False):
        """Two callables that queue the forward and the backward kernels on the current stream, with one workspace between them, at first of NaN if `spoil`."""
        arguments, keep = pack(tensors)
        workspace = self.workspace(tensors)
        if spoil:
            workspace.fill_(255)

        def forward():
            self.run(self.library.lib.tilewright_forward, arguments, workspace)

        def backward():
            self.run(self.library.lib.tilewright_backward, arguments, workspace)

        forward.keep = backward.keep = keep
        return forward, backward
