/* The C functions, from C: built, launched on the CPU, right; every mistake refused with its text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilewright/tilewright.h>

enum { H = 2, SQ = 5, SKV = 7, D = 8 };

static int failures;

static void check(int holds, const char *what, int line) {
  if (!holds) {
    printf("CApiTest.c:%d: %s\n  tilewright_error(): %s\n", line, what, tilewright_error());
    ++failures;
  }
}
#define CHECK(condition) check(condition, #condition, __LINE__)
#define CHECK_ERROR(call, status, text)                                                                                                                        \
  do {                                                                                                                                                         \
    CHECK((call) == (status));                                                                                                                                 \
    CHECK(strstr(tilewright_error(), text) != NULL);                                                                                                           \
  } while (0)

static float q[H * SQ * D], k[H * SKV * D], v[H * SKV * D], o[H * SQ * D], lse[H * SQ];
static const int64_t q_shape[] = {1, H, SQ, D}, k_shape[] = {1, H, SKV, D}, lse_shape[] = {1, H, SQ};
static tilewright_tensor tensors[] = {{"Q", q, "f32", 4, q_shape, NULL}, {"K", k, "f32", 4, k_shape, NULL}, {"V", v, "f32", 4, k_shape, NULL}, {"O", o, "f32", 4, q_shape, NULL}, {"lse", lse, "f32", 3, lse_shape, NULL}};
static tilewright_arguments arguments = {tensors, 5, NULL, 0};

/* The largest difference from softmax(Q K / sqrt(D)) V, by its definition. */
static double error_of_output(void) {
  double worst = 0;
  for (int row = 0; row < H * SQ; ++row) {
    const int h = row / SQ;
    double weights[SKV], sum = 0;
    for (int j = 0; j < SKV; ++j) {
      double score = 0;
      for (int d = 0; d < D; ++d)
        score += (double)q[row * D + d] * k[(h * SKV + j) * D + d];
      sum += weights[j] = exp(score / sqrt(D));
    }
    for (int d = 0; d < D; ++d) {
      double mean = 0;
      for (int j = 0; j < SKV; ++j)
        mean += weights[j] / sum * v[(h * SKV + j) * D + d];
      worst = fmax(worst, fabs(mean - o[row * D + d]));
    }
    worst = fmax(worst, fabs(log(sum) - lse[row]));
  }
  return worst;
}

static void fill(void) {
  srand(1);
  for (int i = 0; i < H * SQ * D; ++i)
    q[i] = (float)rand() / (float)RAND_MAX - 0.5f;
  for (int i = 0; i < H * SKV * D; ++i) {
    k[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    v[i] = (float)rand() / (float)RAND_MAX - 0.5f;
  }
  memset(o, 0xff, sizeof o);
  memset(lse, 0xff, sizeof lse);
}

static void test_variant(void) {
  tilewright_kernel *kernel = NULL;
  CHECK(tilewright_build("plain", "f32", D, D, NULL, "cache=off", &kernel) == TILEWRIGHT_OK);
  if (!kernel)
    return;
  CHECK(strstr(tilewright_describe(kernel), "kernel plain\n  target    host\n") == tilewright_describe(kernel));
  size_t bytes = 0;
  CHECK(tilewright_workspace_bytes(kernel, &arguments, &bytes) == TILEWRIGHT_OK);
  void *workspace = aligned_alloc(64, (bytes + 64) / 64 * 64);
  fill();
  CHECK(tilewright_launch(kernel, NULL, &arguments, workspace, bytes) == TILEWRIGHT_OK);
  CHECK(error_of_output() < 1e-5);
  memset(workspace, 0, bytes);
  fill();
  CHECK(tilewright_launch_zeroed(kernel, NULL, &arguments, workspace, bytes) == TILEWRIGHT_OK);
  CHECK(error_of_output() < 1e-5);
  fill();
  CHECK(tilewright_run(kernel, &arguments) == TILEWRIGHT_OK);
  CHECK(error_of_output() < 1e-5);

  CHECK_ERROR(tilewright_launch(kernel, NULL, &arguments, workspace, 1), TILEWRIGHT_BAD_ARGUMENTS, "the workspace has 1 bytes");
  CHECK_ERROR(tilewright_launch(kernel, NULL, NULL, workspace, bytes), TILEWRIGHT_BAD_ARGUMENTS, "arguments is NULL");
  CHECK_ERROR(tilewright_launch(NULL, NULL, &arguments, workspace, bytes), TILEWRIGHT_BAD_ARGUMENTS, "kernel is NULL");
  CHECK_ERROR(tilewright_launch(kernel, workspace, &arguments, workspace, bytes), TILEWRIGHT_BAD_ARGUMENTS, "which has no streams");
  tensors[0].type = "f33";
  CHECK_ERROR(tilewright_run(kernel, &arguments), TILEWRIGHT_BAD_ARGUMENTS, "tensor 'Q' has type 'f33', expected f16, bf16, f32");
  tensors[0].type = "f32";
  tensors[1].name = "Q";
  CHECK_ERROR(tilewright_run(kernel, &arguments), TILEWRIGHT_BAD_ARGUMENTS, "tensor 'Q' is given twice");
  tensors[1].name = "K";
  --arguments.tensor_count;
  CHECK_ERROR(tilewright_run(kernel, &arguments), TILEWRIGHT_BAD_ARGUMENTS, "tensor 'lse' is missing");
  ++arguments.tensor_count;
  free(workspace);
  tilewright_release(kernel);
}

/* dQ, dK and dV by their definition, of one head's rows after the other. */
static double error_of_gradients(const float *d_o, const float *d_q, const float *d_k, const float *d_v) {
  static double want_q[H * SQ * D], want_k[H * SKV * D], want_v[H * SKV * D];
  memset(want_q, 0, sizeof want_q);
  memset(want_k, 0, sizeof want_k);
  memset(want_v, 0, sizeof want_v);
  for (int row = 0; row < H * SQ; ++row) {
    const int first = row / SQ * SKV;
    double p[SKV], dp[SKV], sum = 0, mean = 0;
    for (int j = 0; j < SKV; ++j) {
      double score = 0;
      dp[j] = 0;
      for (int d = 0; d < D; ++d) {
        score += (double)q[row * D + d] * k[(first + j) * D + d];
        dp[j] += (double)d_o[row * D + d] * v[(first + j) * D + d];
      }
      sum += p[j] = exp(score / sqrt(D));
    }
    for (int j = 0; j < SKV; ++j)
      mean += (p[j] /= sum) * dp[j];
    for (int j = 0; j < SKV; ++j)
      for (int d = 0; d < D; ++d) {
        const double ds = p[j] * (dp[j] - mean) / sqrt(D);
        want_q[row * D + d] += ds * k[(first + j) * D + d];
        want_k[(first + j) * D + d] += ds * q[row * D + d];
        want_v[(first + j) * D + d] += p[j] * d_o[row * D + d];
      }
  }
  double worst = 0;
  for (int i = 0; i < H * SQ * D; ++i)
    worst = fmax(worst, fabs(want_q[i] - d_q[i]));
  for (int i = 0; i < H * SKV * D; ++i)
    worst = fmax(worst, fmax(fabs(want_k[i] - d_k[i]), fabs(want_v[i] - d_v[i])));
  return worst;
}

static void test_gradient(void) {
  tilewright_gradient *gradient = NULL;
  CHECK(tilewright_build_gradient("plain", "f32", D, D, NULL, "cache=off", "O", "Q K V", &gradient) == TILEWRIGHT_OK);
  if (!gradient)
    return;
  CHECK(strstr(tilewright_describe_gradient(gradient), "reads dO of O\n") != NULL);
  CHECK(strstr(tilewright_describe_gradient(gradient), "stores dK of K\n") != NULL);
  size_t bytes = 0;
  CHECK(tilewright_gradient_workspace_bytes(gradient, &arguments, &bytes) == TILEWRIGHT_OK);
  static float d_o[H * SQ * D], d_q[H * SQ * D], d_k[H * SKV * D], d_v[H * SKV * D];
  tilewright_tensor all[9];
  memcpy(all, tensors, sizeof tensors);
  all[5] = (tilewright_tensor){"dO", d_o, "f32", 4, q_shape, NULL};
  all[6] = (tilewright_tensor){"dQ", d_q, "f32", 4, q_shape, NULL};
  all[7] = (tilewright_tensor){"dK", d_k, "f32", 4, k_shape, NULL};
  all[8] = (tilewright_tensor){"dV", d_v, "f32", 4, k_shape, NULL};
  const tilewright_arguments given = {all, 9, NULL, 0};
  void *workspace = aligned_alloc(256, (bytes + 256) / 256 * 256);
  fill();
  for (int i = 0; i < H * SQ * D; ++i)
    d_o[i] = (float)rand() / (float)RAND_MAX - 0.5f;
  CHECK(tilewright_forward(gradient, NULL, &given, workspace, bytes) == TILEWRIGHT_OK);
  CHECK(error_of_output() < 1e-5);
  CHECK(tilewright_backward(gradient, NULL, &given, workspace, bytes) == TILEWRIGHT_OK);
  CHECK(error_of_gradients(d_o, d_q, d_k, d_v) < 1e-5);
  CHECK_ERROR(tilewright_backward(gradient, NULL, &given, workspace, 1), TILEWRIGHT_BAD_ARGUMENTS, "the workspace has 1 bytes");
  CHECK_ERROR(tilewright_backward(NULL, NULL, &given, workspace, bytes), TILEWRIGHT_BAD_ARGUMENTS, "gradient is NULL");
  all[8].name = "dK";
  CHECK_ERROR(tilewright_backward(gradient, NULL, &given, workspace, bytes), TILEWRIGHT_BAD_ARGUMENTS, "tensor 'dK' is given twice");
  tilewright_gradient *none = gradient;
  CHECK_ERROR(tilewright_build_gradient("plain", "f32", D, D, NULL, "cache=off", "O", "W", &none), TILEWRIGHT_BAD_PROGRAM, "'W'");
  CHECK(none == NULL);
  CHECK_ERROR(tilewright_build_gradient("plain", "f32", D, D, NULL, "cache=off", NULL, NULL, NULL), TILEWRIGHT_BAD_OPTIONS, "gradient is NULL");
  CHECK(strcmp(tilewright_describe_gradient(NULL), "") == 0);
  free(workspace);
  tilewright_release_gradient(gradient);
}

static void test_program(void) {
  /* Y[q] = sum over k of X[q, k] */
  const char *text = "program \"row_sums\"\n"
                     "axis q\n"
                     "axis k\n"
                     "tensor X f32[2]\n"
                     "tensor Y f32[1]\n"
                     "%0 = constant 0.0 : f32[q]\n"
                     "%1 = fold k (%2 = %0) {\n"
                     "  %3 = load X[q, k] : f32[q, k]\n"
                     "  %4 = reduce_sum %3 over k : f32[q]\n"
                     "  %5 = add %2, %4 : f32[q]\n"
                     "  yield %5\n"
                     "}\n"
                     "store Y[q] = %1\n";
  tilewright_kernel *kernel = NULL;
  CHECK(tilewright_build_program(text, "", "host", "cache=off", &kernel) == TILEWRIGHT_OK);
  if (!kernel)
    return;
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, y[2] = {0, 0};
  const int64_t shape[] = {2, 3}, transposed_shape[] = {3, 2}, transposed_strides[] = {1, 3};
  tilewright_tensor own[] = {{"X", x, "f32", 2, shape, NULL}, {"Y", y, "f32", 1, shape, NULL}};
  const tilewright_arguments given = {own, 2, NULL, 0};
  CHECK(tilewright_run(kernel, &given) == TILEWRIGHT_OK);
  CHECK(y[0] == 6 && y[1] == 15);
  float z[3];
  own[0].shape = transposed_shape;
  own[0].strides = transposed_strides;
  own[1] = (tilewright_tensor){"Y", z, "f32", 1, transposed_shape, NULL};
  CHECK(tilewright_run(kernel, &given) == TILEWRIGHT_OK);
  CHECK(z[0] == 5 && z[1] == 7 && z[2] == 9);
  tilewright_release(kernel);
}

static void test_refusals(void) {
  tilewright_kernel *kernel = NULL;
  CHECK_ERROR(tilewright_build("plane", "f32", D, D, NULL, NULL, &kernel), TILEWRIGHT_BAD_OPTIONS, "did you mean 'plain'?");
  CHECK(kernel == NULL);
  CHECK_ERROR(tilewright_build(NULL, "f32", D, D, NULL, NULL, &kernel), TILEWRIGHT_BAD_OPTIONS, "variant is NULL");
  CHECK_ERROR(tilewright_build("plain", "float", D, D, NULL, NULL, &kernel), TILEWRIGHT_BAD_OPTIONS, "type is 'float', expected f16, bf16, f32, f64, i32, i64 or bool");
  CHECK_ERROR(tilewright_build("plain", "f32", 7, D, NULL, NULL, &kernel), TILEWRIGHT_BAD_OPTIONS, "multiple");
  CHECK_ERROR(tilewright_build("plain", "f32", D, D, "h201", NULL, &kernel), TILEWRIGHT_BAD_OPTIONS, "h200");
  CHECK_ERROR(tilewright_build("plain", "f32", D, D, NULL, "tune=modle", &kernel), TILEWRIGHT_BAD_OPTIONS, "options: tune=modle, expected never, cached, model or measure; did you mean 'model'?");
  CHECK_ERROR(tilewright_build("plain", "f32", D, D, NULL, "tune=model", &kernel), TILEWRIGHT_BAD_OPTIONS,
              "BuildOptions::tune is model, and nothing says for which shapes; give those of the tensors in BuildOptions::shapes, or take Tune::cached");
  CHECK_ERROR(tilewright_build("plain", "f32", D, D, NULL, "shapes=Q=1x2xthree", &kernel), TILEWRIGHT_BAD_OPTIONS, "options: shapes: 'three' of tensor 'Q' is no length; lengths are whole numbers from 0");
  CHECK_ERROR(tilewright_build("plain", "f32", D, D, NULL, "shapes=1x2x3", &kernel), TILEWRIGHT_BAD_OPTIONS, "options: shapes: '1x2x3' is not of the form tensor=4x32x4096x128");
  CHECK_ERROR(tilewright_build("plain", "f32", D, D, NULL, "cahce=off", &kernel), TILEWRIGHT_BAD_OPTIONS, "options: 'cahce' is none; did you mean 'cache'?; they are cache, checked, deterministic, schedule, shapes, shared-limit, tune, lse");
  CHECK_ERROR(tilewright_build("plain", "f32", D, D, NULL, "lse=maybe", &kernel), TILEWRIGHT_BAD_OPTIONS, "options: lse=maybe, expected on or off");
  CHECK_ERROR(tilewright_build("plain", "f32", D, D, NULL, "lse", &kernel), TILEWRIGHT_BAD_OPTIONS, "options: 'lse' is not of the form name=value");
  CHECK_ERROR(tilewright_build("plain", "bf16", D, D, "l4", "shared-limit=48k", &kernel), TILEWRIGHT_BAD_OPTIONS, "options: shared-limit '48k': expected a number of bytes from 1 to 1 TiB, such as 49152 or 48KiB");
  CHECK_ERROR(tilewright_build("plain", "bf16", 256, 256, "l4", "shared-limit=16KiB", &kernel), TILEWRIGHT_BAD_OPTIONS, "there are 16384, which is the limit asked for");
  CHECK_ERROR(tilewright_build("plain", "f32", D, D, "host", "shared-limit=48KiB", &kernel), TILEWRIGHT_BAD_OPTIONS, "goes with a GPU");
  CHECK_ERROR(tilewright_build("plain", "f32", D, D, NULL, NULL, NULL), TILEWRIGHT_BAD_OPTIONS, "kernel is NULL");
  CHECK_ERROR(tilewright_build_program("nonsense", NULL, NULL, NULL, &kernel), TILEWRIGHT_BAD_PROGRAM, "<program>:1");
  CHECK_ERROR(tilewright_build_program("nonsense", "d=8 d=16", NULL, NULL, &kernel), TILEWRIGHT_BAD_OPTIONS, "extents: 'd' is given twice; give it once");
  CHECK_ERROR(tilewright_build("plain", "bf16", 64, 64, "h200", "cache=off;schedule=block=q q=128 k=64 d=128 e=64", &kernel), TILEWRIGHT_BAD_OPTIONS,
              "the schedule has d=128, and axis 'd' of program 'plain' is 64 long: on a GPU it lies whole inside a tile; take d=64. The schedule: block=q d=128 e=64 k=64 q=128 warpgroups=2 stages=2 blockBuffers=1 overlap=yes "
              "turns=yes drawn=no stabilised=no producer=yes blocksPerSM=1 registerRows=6 registerVectors=2");
  CHECK_ERROR(tilewright_build_program("nonsense", "d=x", NULL, NULL, &kernel), TILEWRIGHT_BAD_OPTIONS, "extents: d=x, expected a whole number");
  CHECK_ERROR(tilewright_build_program("nonsense", NULL, NULL, "lse=off", &kernel), TILEWRIGHT_BAD_OPTIONS, "options: 'lse' is none; they are cache, checked, deterministic, schedule, shapes, shared-limit, tune");
  CHECK(strcmp(tilewright_describe(NULL), "") == 0);
  tilewright_release(NULL);
}

static void test_options(void) {
  tilewright_kernel *kernel = NULL;
  CHECK(tilewright_build("causal+alibi", "bf16", 64, 32, "host", " lse=off; cache=off ;", &kernel) == TILEWRIGHT_OK);
  if (kernel)
    CHECK(strstr(tilewright_describe(kernel), "stores    lse") == NULL);
  tilewright_release(kernel);
}

int main(void) {
  CHECK(strcmp(tilewright_error(), "") == 0);
  CHECK(strcmp(tilewright_version(), VERSION) == 0);
  test_variant();
  test_gradient();
  test_program();
  test_refusals();
  test_options();
  if (!failures)
    printf("the C functions are right\n");
  return failures != 0;
}
