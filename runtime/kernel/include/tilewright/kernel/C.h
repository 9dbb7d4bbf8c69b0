/* Tilewright from C, and from whatever calls C: build, describe, launch. `#include <tilewright/tilewright.h>` in C is this. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What every function returns. The text of the last failure in the calling thread: tilewright_error(). */
typedef enum tilewright_status {
  TILEWRIGHT_OK = 0,
  TILEWRIGHT_BAD_PROGRAM = 1,     /* the program's text is wrong; the message has its line */
  TILEWRIGHT_BAD_OPTIONS = 2,     /* unknown variant, type, target or option; a head dim out of range; a missing extent */
  TILEWRIGHT_BAD_ARGUMENTS = 3,   /* what was given at launch does not fit; nothing was written */
  TILEWRIGHT_COMPILER = 4,        /* the compiler refuses */
  TILEWRIGHT_MACHINE = 5,         /* the machine refuses: no driver, no NVRTC, a kernel failed */
  TILEWRIGHT_MEMORY = 6,          /* out of memory */
  TILEWRIGHT_UNEXPECTED = 7       /* a mistake of Tilewright's */
} tilewright_status;

/* A kernel. Any number of threads may use it at once, each with its own workspace. */
typedef struct tilewright_kernel tilewright_kernel;

/* Element [i, j, ...] is at data + (i * strides[0] + j * strides[1] + ...) elements. */
typedef struct tilewright_tensor {
  const char *name;               /* as in the program: Q, K, V, O, lse, ... */
  void *data;                     /* memory of the GPU for a GPU's kernel */
  const char *type;               /* f16 bf16 f32 f64 i32 i64 bool */
  int32_t rank;
  const int64_t *shape;           /* rank lengths, from 0 */
  const int64_t *strides;         /* rank strides in elements; NULL: row-major */
} tilewright_tensor;

typedef struct tilewright_scalar {
  const char *name;
  double value;
} tilewright_scalar;

/* What a launch is given. Names are unique. */
typedef struct tilewright_arguments {
  const tilewright_tensor *tensors;
  size_t tensor_count;
  const tilewright_scalar *scalars;
  size_t scalar_count;
} tilewright_arguments;

/* Builds a variant of the gallery, or several joined by '+', for one head dim of Q and K and one of V. `type`: f16, bf16, f32 or f64.
   `target`: "host" (this CPU), "gpu" (what GPU 0 of this machine is), or a name of `tilewright list --targets`; NULL: host.
   `options`: NULL, or entries `name=value` joined by ';':
     lse=off         do not store lse
     cache=off       neither read nor write the cache file
     checked=on      look before each launch whether an index that depends on what tensors hold leaves its tensor: tilewright_error names it
     deterministic=on   of gradients: sums in a fixed order, so that every run has the same bits
     accumulates=on  of gradients: one kernel makes all three on its way and adds dQ to memory, also under masks that skip tiles, where a GPU can do that in the background
     schedule=TEXT   in place of the default one: schedule=block=q q=64 k=64 d=128 e=128
     shapes=Q=4x32x4096x128 K=4x8x4096x128 V=4x8x4096x128   those it will be launched with most: what a schedule is chosen for; it serves all others too
     tune=cached     with shapes: take the schedule that tunings found, else the default one; model: else what the cost model says; measure: time some now
                     (on a GPU of the target, for up to 30 s, and keep the result); never: the default one; cached if left out
     shared-limit=48KiB   the most shared memory that a block of a GPU may take, in bytes, KiB or MiB; what the target has if left out
   On success *kernel is to be released by tilewright_release. */
tilewright_status tilewright_build(const char *variant, const char *type, int64_t head_dim, int64_t head_dim_v, const char *target, const char *options, tilewright_kernel **kernel);

/* Builds a program given as text (what `tilewright compile --emit program` prints). `extents`: lengths of all inner axes, "d=128 e=64". The
   rest is as above, without lse. */
tilewright_status tilewright_build_program(const char *program, const char *extents, const char *target, const char *options, tilewright_kernel **kernel);

/* Bytes of workspace that a launch with these arguments needs; may be 0. */
tilewright_status tilewright_workspace_bytes(const tilewright_kernel *kernel, const tilewright_arguments *arguments, size_t *bytes);

/* Queues a launch on `stream`, a CUstream or cudaStream_t of the GPU where the tensors are; NULL is its default stream. On the CPU, stream is
   NULL and the launch is done on return. `workspace`: that many bytes, aligned to 64, in the same memory as the tensors; what is in it does not
   matter, and no other launch may use it until this one has run. */
tilewright_status tilewright_launch(const tilewright_kernel *kernel, void *stream, const tilewright_arguments *arguments, void *workspace, size_t workspace_bytes);

/* The same with the promise that all bytes of the workspace are 0, as every launch on a GPU leaves them that has run to its end: zero it once, and
   launches need one call of the driver instead of two. */
tilewright_status tilewright_launch_zeroed(const tilewright_kernel *kernel, void *stream, const tilewright_arguments *arguments, void *workspace, size_t workspace_bytes);

/* The same with a workspace of its own; returns when done. Convenient, slower. */
tilewright_status tilewright_run(const tilewright_kernel *kernel, const tilewright_arguments *arguments);

/* A readable description; lives as long as the kernel. */
const char *tilewright_describe(const tilewright_kernel *kernel);

/* Gives the kernel up. NULL is allowed. Launches must have run. */
void tilewright_release(tilewright_kernel *kernel);

/* The kernels of a program and of its gradient. Any number of threads may use them at once, each with its own workspace. */
typedef struct tilewright_gradient tilewright_gradient;

/* Builds a variant of the gallery with its backward kernels; the first six arguments are those of tilewright_build. `outputs`: the stored tensors
   that the loss depends on, as "O" or "O lse"; NULL: all of float type. `inputs`: what gradients are wanted of, as "Q K V slopes"; NULL: all
   tensors and scalars of float type. The derivatives by the output O are read from the tensor dO, and the gradient of the input Q is stored to dQ: see
   tilewright_describe_gradient. To be released by tilewright_release_gradient. */
tilewright_status tilewright_build_gradient(const char *variant, const char *type, int64_t head_dim, int64_t head_dim_v, const char *target, const char *options, const char *outputs, const char *inputs,
                                            tilewright_gradient **gradient);

/* The same of a program given as text; `extents` as in tilewright_build_program. */
tilewright_status tilewright_build_gradient_of_program(const char *program, const char *extents, const char *target, const char *options, const char *outputs, const char *inputs,
                                                       tilewright_gradient **gradient);

/* Bytes of workspace that forward and backward need with these arguments; dO, dQ, ... need not be among them. */
tilewright_status tilewright_gradient_workspace_bytes(const tilewright_gradient *gradient, const tilewright_arguments *arguments, size_t *bytes);

/* Runs the program: as tilewright_launch, but the workspace must stay as it is until tilewright_backward has been called with it. */
tilewright_status tilewright_forward(const tilewright_gradient *gradient, void *stream, const tilewright_arguments *arguments, void *workspace, size_t workspace_bytes);

/* Computes the gradients, after tilewright_forward with the same tensors, on the same stream. With
   deterministic=on, and on a CPU, every run gives the same bits; H100 and H200 else sum dQ in memory where no mask skips tiles, in any order. */
tilewright_status tilewright_backward(const tilewright_gradient *gradient, void *stream, const tilewright_arguments *arguments, void *workspace, size_t workspace_bytes);

/* A readable description of the kernels, and lines "reads dO of O" and "stores dQ of Q"; lives as long as they do. */
const char *tilewright_describe_gradient(const tilewright_gradient *gradient);

/* Gives the kernels up. NULL is allowed. Launches must have run. */
void tilewright_release_gradient(tilewright_gradient *gradient);

/* What the last call of this thread that failed says, with the cure; "" where none has. Lives until the next call that fails. */
const char *tilewright_error(void);

/* "0.1.0" */
const char *tilewright_version(void);

#ifdef __cplusplus
}
#endif
