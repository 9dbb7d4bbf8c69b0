"""Rows of the list of ways in which other projects' kernels went wrong, as far as they need a GPU; and what many launches share.

Row 89, a missing wait, is sanitize.sh's. Each function returns None, or what is wrong.
"""
import ctypes
import statistics
import time

from cases import Case, Problem
from kernels import Spec, tilewright

PACKED = Spec("plain", "f16", 64, 64)
VIEWS = Spec("plain", "bf16", 256, 256)
COMMON = Spec("causal", "bf16", 128, 128)
FAR = Spec("causal", "bf16", 64, 64)
SPECS = (PACKED, VIEWS, COMMON, FAR)


def bits(torch, tensor):
    return tensor.contiguous().view(torch.int32 if tensor.dtype == torch.float32 else torch.int16)


def same(torch, what, outputs, reference):
    """None, or a text: which output differs in some bit. Dicts of tensors."""
    for name, tensor in outputs.items():
        wrong = bits(torch, tensor) != bits(torch, reference[name])
        if bool(wrong.any()):
            return f"{what}: {name} differs from the first run in {int(wrong.sum())} of {tensor.numel()} elements"
    return None


def launched(torch, kernels, problem, outputs=None):
    outputs = outputs or problem.outputs
    kernels[problem.case.spec].bind(problem.tensors(outputs))()
    torch.cuda.synchronize()
    return {name: view for name, (view, _) in outputs.items()}


def row_42(torch, kernels):
    """Q, K and V as parts of one buffer: 16 heads, 1 and 1 of [S, B, heads, D]."""
    problem = Problem(torch, Case(PACKED, 1, 16, 1, 64, 64))
    reference = launched(torch, kernels, problem)
    buffer = torch.cat([x.permute(2, 0, 1, 3) for x in (problem.q, problem.k, problem.v)], 2).contiguous()
    problem.q, problem.k, problem.v = (part.permute(1, 2, 0, 3) for part in buffer.split([16, 1, 1], 2))
    outputs = problem.fresh_outputs()
    return same(torch, "parts of one buffer", launched(torch, kernels, problem, outputs), reference) or problem.check(outputs)


def row_44(torch, kernels):
    """Views of memory in other orders."""
    reference = None
    for layout in ("dense", "bshd", "sbhd"):
        problem = Problem(torch, Case(VIEWS, 2, 4, 2, 33, 33, layout))
        outputs = launched(torch, kernels, problem)
        reference = reference or {name: view.clone() for name, view in outputs.items()}
        if wrong := same(torch, layout, outputs, reference) or problem.check():
            return f"{layout}: {wrong}"
    return None


def row_51(torch, kernels):
    """Offsets past 2^31 elements: of a batch, and of rows."""
    for what, shape, strides in (("batches 2^31 + 64 apart", (2, 1, 70, 64), (2 ** 31 + 64, 70 * 64, 64, 1)),
                                 ("rows 2^25 apart", (1, 2, 70, 64), (128, 64, 2 ** 25, 1))):
        case = Case(FAR, shape[0], shape[1], shape[1], 70, 70)
        problem = Problem(torch, case)
        reference = {name: view.clone() for name, view in launched(torch, kernels, problem).items()}
        if wrong := problem.check():
            return wrong

        def far(given):
            count = sum((n - 1) * s for n, s in zip(shape, strides)) + 1
            view = torch.empty(count, dtype=given.dtype, device="cuda").as_strided(shape, strides)
            view.copy_(given)
            return view
        problem.q, problem.k, problem.v = far(problem.q), far(problem.k), far(problem.v)
        outputs = problem.fresh_outputs()
        outputs["O"] = (far(torch.zeros_like(outputs["O"][0])), None)
        wrong = same(torch, what, launched(torch, kernels, problem, outputs), reference)
        del problem, outputs
        torch.cuda.empty_cache()
        if wrong:
            return wrong
    return None


def row_95(torch, kernels):
    """Launches are ordered on the caller's stream, behind a slow producer, and can be captured."""
    problem = Problem(torch, Case(COMMON, 2, 4, 2, 300, 300))
    reference = {name: view.clone() for name, view in launched(torch, kernels, problem).items()}
    right = problem.q.clone()
    launch = kernels[COMMON].bind(problem.tensors())
    stream = torch.cuda.Stream()
    problem.q.zero_()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        problem.q.copy_(right)
        launch()
        results = {name: view.clone() for name, (view, _) in problem.outputs.items()}
    stream.synchronize()
    if wrong := same(torch, "behind a producer on a stream", results, reference):
        return wrong
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch()
    for replay in range(3):
        for view, _ in problem.outputs.values():
            view.zero_()
        graph.replay()
        torch.cuda.synchronize()
        if wrong := same(torch, f"replay {replay} of a captured launch", {name: view for name, (view, _) in problem.outputs.items()}, reference):
            return wrong
    problem.q.copy_(-right)
    graph.replay()
    torch.cuda.synchronize()
    return problem.check()


def refusal(launch):
    try:
        launch()
        return ""
    except RuntimeError as error:
        return str(error)


def row_96(torch, kernels):
    """A tensor that the GPU has not is named before anything is launched, however often it is tried."""
    problem = Problem(torch, Case(COMMON, 1, 2, 2, 40, 40))
    before = problem.outputs["O"][0].clone()
    elsewhere = [("K", problem.k.cpu(), "tensor 'K' lies at address"), ("Q", problem.q.cpu(), "tensor 'Q' lies at address")]
    if torch.cuda.device_count() > 1:
        elsewhere.append(("V", problem.v.to("cuda:1"), "on GPU 1; copy them to one GPU"))
    for name, tensor, expected in elsewhere:
        # Not by bind's order of tensors: the first one says on which stream to launch.
        tensors = {"O": problem.outputs["O"][0], **{n: t for n, t in problem.tensors().items() if n != "O"}, name: tensor}
        launch = kernels[COMMON].bind(tensors)
        for attempt in (1, 2):
            message = refusal(launch)
            if expected not in message:
                return f"{name} elsewhere, attempt {attempt}: expected an error with \"{expected}\", got {message or 'none'!r}"
    torch.cuda.synchronize()
    if not torch.equal(before, problem.outputs["O"][0]):
        return "something was launched after the error"
    launched(torch, kernels, problem)
    return problem.check()


def runs_are_equal(torch, kernels, case, times=10):
    problem = Problem(torch, case)
    reference = {name: view.clone() for name, view in launched(torch, kernels, problem).items()}
    for run in range(1, times):
        if wrong := same(torch, f"run {run}", launched(torch, kernels, problem, problem.fresh_outputs()), reference):
            return wrong
    return None


def streams_are_equal(torch, kernels, case, times=12):
    """Launches on two streams at once, each with its own workspace and outputs."""
    problem = Problem(torch, case)
    reference = {name: view.clone() for name, view in launched(torch, kernels, problem).items()}
    streams = [torch.cuda.Stream() for _ in range(2)]
    outputs = [[problem.fresh_outputs() for _ in range(times)] for _ in streams]
    launches = [[kernels[case.spec].bind(problem.tensors(each)) for each in mine] for mine in outputs]
    torch.cuda.synchronize()
    for i in range(times):
        for stream, mine in zip(streams, launches):
            with torch.cuda.stream(stream):
                mine[i]()
    torch.cuda.synchronize()
    for number, mine in enumerate(outputs):
        for i, each in enumerate(mine):
            if wrong := same(torch, f"launch {i} of stream {number}", {name: view for name, (view, _) in each.items()}, reference):
                return wrong
    return None


def empty_launch(torch):
    """A callable that queues, through the driver alone, a kernel that does nothing, with as large a parameter block as ours have."""
    driver = ctypes.CDLL("libcuda.so.1")
    ptx = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing(.param .align 128 .b8 block[512]) { ret; }\n\0"
    torch.zeros(1, device="cuda")   # a context
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    if driver.cuModuleLoadData(ctypes.byref(module), ptx) or driver.cuModuleGetFunction(ctypes.byref(function), module, b"nothing"):
        raise RuntimeError("the driver does not take an empty kernel")
    block = ctypes.create_string_buffer(512)
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(block))
    stream = ctypes.c_void_p(torch.cuda.Stream().cuda_stream)
    one, none = ctypes.c_uint(1), ctypes.c_uint(0)
    return lambda keep=(block, parameters): driver.cuLaunchKernel(function, one, one, one, ctypes.c_uint(32), one, one, none, stream, keep[1], None)


def launch_microseconds(torch, kernels, spec, count=200, batches=5):
    """What queuing a launch costs the caller, medians over batches: with a zeroed workspace, with any, of an empty kernel through the driver alone; and what any
    call from Python by ctypes costs."""
    problem = Problem(torch, Case(spec, 1, 1, 1, 64, 64))
    bound = kernels[spec].bind(problem.tensors())
    bound()
    views, numbers, workspace = bound.keep[-3:]
    arguments = ctypes.byref(tilewright.Arguments(views, len(views), numbers, 0))
    lib, handle, stream = kernels.library.lib, kernels[spec].handle, torch.cuda.Stream().cuda_stream
    data, size = ctypes.c_void_p(workspace.data_ptr()), ctypes.c_size_t(workspace.numel())

    def batch(call):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            if call():
                raise RuntimeError(lib.tilewright_error().decode())
        return (time.perf_counter() - start) / count * 1e6
    lib.tilewright_release.argtypes, lib.tilewright_release.restype = [ctypes.c_void_p], None
    zeroed, launches = ([batch(lambda: launch(handle, stream, arguments, data, size)) for _ in range(batches + 1)][1:] for launch in (lib.tilewright_launch_zeroed, lib.tilewright_launch))
    nothing = empty_launch(torch)
    empty = [batch(nothing) for _ in range(batches + 1)][1:]
    calls = [batch(lambda: lib.tilewright_release(None)) for _ in range(batches)]
    torch.cuda.synchronize()
    return statistics.median(zeroed), statistics.median(launches), statistics.median(empty), statistics.median(calls)
