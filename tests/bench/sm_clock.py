"""Reads the cycle counter of every multiprocessor, through CUDA's driver alone: how many cycles passed between two places of a stream, at
whatever clocks the GPU ran meanwhile. Needs torch with CUDA."""
import ctypes as c

# Every block notes its multiprocessor's cycle counter and the time in ns. The driver makes code of this for any GPU since Ampere.
PTX = b"""
.version 7.0
.target sm_80
.address_size 64
.visible .entry read_clocks(.param .u64 out)
{
  .reg .u32 %sm;
  .reg .u64 %at, %offset, %cycles, %ns;
  ld.param.u64 %at, [out];
  cvta.to.global.u64 %at, %at;
  mov.u32 %sm, %smid;
  mul.wide.u32 %offset, %sm, 16;
  add.u64 %at, %at, %offset;
  mov.u64 %cycles, %clock64;
  mov.u64 %ns, %globaltimer;
  st.global.v2.u64 [%at], {%cycles, %ns};
  ret;
}
"""
MOST_MULTIPROCESSORS = 1024


class Clocks:
    def __init__(self, torch):
        self.torch = torch
        torch.cuda.current_stream().synchronize()   # the driver's context is torch's
        self.driver = c.CDLL("libcuda.so.1")
        module, self.entry = c.c_void_p(), c.c_void_p()
        self.check(self.driver.cuModuleLoadData(c.byref(module), PTX))
        self.check(self.driver.cuModuleGetFunction(c.byref(self.entry), module, b"read_clocks"))
        self.blocks = 16 * torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count   # enough that each gets some

    @staticmethod
    def check(result):
        if result:
            raise RuntimeError(f"the driver's call failed with error {result}")

    def room(self):
        """Memory of one reading."""
        return self.torch.zeros(MOST_MULTIPROCESSORS, 2, dtype=self.torch.int64, device="cuda")

    def read(self, out):
        """Queues a reading on the current stream; of each multiprocessor the last of its blocks stays."""
        address = c.c_uint64(out.data_ptr())
        arguments = (c.c_void_p * 1)(c.cast(c.byref(address), c.c_void_p))
        stream = c.c_void_p(self.torch.cuda.current_stream().cuda_stream)
        self.check(self.driver.cuLaunchKernel(self.entry, self.blocks, 1, 1, 32, 1, 1, 0, stream, arguments, None))


def between(before, after):
    """(cycles, seconds) from one reading to another, lists of [cycles, ns] by multiprocessor: the medians over those that are in both and went on.
    (None, None) where there is none."""
    cycles, seconds = [], []
    for (c0, t0), (c1, t1) in zip(before, after):
        if t0 and t1 and c1 > c0 and t1 > t0:
            cycles.append(c1 - c0)
            seconds.append((t1 - t0) / 1e9)
    if not cycles:
        return None, None
    middle = len(cycles) // 2
    return sorted(cycles)[middle], sorted(seconds)[middle]
