// The asynchronous proxy: how the copy engine and wgmma see shared memory.

// Makes what this thread wrote through the generic proxy visible to TMA and wgmma, once a barrier has ordered the two.
DEV void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
