// There is no asynchronous proxy: copies and products of these kernels see what barriers have ordered.
DEV void fence_async_proxy() {}
