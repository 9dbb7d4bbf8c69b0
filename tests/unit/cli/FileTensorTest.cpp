// What files give tensors: converted exactly, rounded with a warning, or refused with the cure.
#include "FileTensor.h"
#include "Ran.h"
#include "support/Thrown.h"
#include "tilewright/kernel/Elements.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace tw;
using namespace tw::cli;
using namespace tw::tests;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

NpyArray fileOf(const char *npy, Type type, const std::vector<double> &values) {
  NpyArray file{npy, {std::int64_t(values.size())}, std::string(values.size() * std::size_t(bytes(type)), '\0')};
  putElements(values, type, file.data.data());
  return file;
}

NpyArray wholeOf(const std::vector<std::int64_t> &values) {
  return {"i8", {std::int64_t(values.size())}, std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof values[0])};
}

std::string refusal(const NpyArray &file, Type type, Conversion conversion = Conversion::unasked) {
  return messageOf<std::invalid_argument>([&] { (void)tensorIn(file, {"t", type, 1, {}}, "t.npy", conversion); });
}

} // namespace

TEST_CASE("numbers of one kind are converted where the tensor's type holds them") {
  auto became = [](const NpyArray &file, Type type) { return tensorIn(file, {"t", type, 1, {}}, "t.npy").data; };
  CHECK(became(wholeOf({-7, 2147483647, -2147483648}), Type::i32) == std::vector<double>{-7, 2147483647, -2147483648.0});
  CHECK(became(wholeOf({std::int64_t(1) << 53}), Type::i64) == std::vector<double>{0x1p53});
  CHECK(became(fileOf("i4", Type::i32, {3, -4}), Type::i64) == std::vector<double>{3, -4});
  CHECK(became(fileOf("i4", Type::i32, {3, -4}), Type::f16) == std::vector<double>{3, -4});
  CHECK(became(fileOf("f8", Type::f64, {0.5, -infinite}), Type::f16) == std::vector<double>{0.5, -infinite});
  CHECK(became(fileOf("b1", Type::boolean, {1, 0}), Type::boolean) == std::vector<double>{1, 0});
  CHECK(became(fileOf("u2", Type::bf16, {1.5}), Type::bf16) == std::vector<double>{1.5});
  CHECK(std::isnan(became(fileOf("f8", Type::f64, {std::nan("")}), Type::f32)[0]));
}

TEST_CASE("files of another kind, and numbers beyond the type, are refused") {
  CHECK(refusal(fileOf("f4", Type::f32, {0, 1}), Type::i32) == "t.npy holds f4, floats, and tensor 't' is i32, whole numbers; save x.astype('<i4')");
  CHECK(refusal(fileOf("f8", Type::f64, {std::nan("")}), Type::i64) == "t.npy holds f8, floats, and tensor 't' is i64, whole numbers; save x.astype('<i8')");
  CHECK(refusal(fileOf("i4", Type::i32, {0, 1}), Type::boolean) == "t.npy holds i4, whole numbers, and tensor 't' is bool, truths; save x != 0");
  CHECK(refusal(fileOf("b1", Type::boolean, {1}), Type::i32) == "t.npy holds b1, truths, and tensor 't' is i32, whole numbers; save x.astype('<i4')");
  CHECK(refusal(fileOf("b1", Type::boolean, {1}), Type::f32) ==
        "t.npy holds b1, truths, and tensor 't' is f32, floats; a mask that is added is 0 and -inf: save numpy.where(x, 0, -numpy.inf), or x.astype('<f4') for 0 and 1");
  CHECK(refusal(wholeOf({1, 3000000000}), Type::i32) ==
        "t.npy holds 3000000000 at [1], and tensor 't' is i32, which goes from -2147483648 to 2147483647; take smaller numbers, or a tensor of i64");
  CHECK(refusal(wholeOf({0, (std::int64_t(1) << 53) + 1}), Type::i64) ==
        "t.npy holds 9007199254740993 at [1], and whole numbers of files pass through f64, which holds those from -2^53 to 2^53; take one of these for tensor 't'");
  CHECK(refusal(fileOf("f8", Type::f64, {1, 1e300}), Type::f32) == "t.npy holds 1e+300 at [1], more than the largest f32, the type of tensor 't'; scale it, or take a wider type");
  CHECK(refusal(fileOf("f4", Type::f32, {70000}), Type::f16, Conversion::asked) == "t.npy holds 70000 at [0], more than the largest f16, the type of tensor 't'; scale it, or take a wider type");
  CHECK(refusal(fileOf("u2", Type::bf16, {1}), Type::f32) == "t.npy holds u2, which is read as bf16 only, and tensor 't' is f32; save f4");
}

TEST_CASE("numbers that are rounded are said, unless that was asked for") {
  Folder folder;
  auto save = [&](const char *name, const char *npy, Type type, std::vector<std::int64_t> shape, double first) {
    std::vector<double> values(std::size_t(shape[0] * (shape.size() > 1 ? shape[1] * shape[2] * shape[3] : 1)), 0.5);
    values[0] = first;
    NpyArray file = fileOf(npy, type, values);
    file.shape = std::move(shape);
    folder.write(name, formatNpy(file));
  };
  save("slopes.npy", "f8", Type::f64, {2}, 0.1);
  save("exact.npy", "f8", Type::f64, {2}, 0.25);
  save("q.npy", "f2", Type::f16, {1, 2, 4, 8}, 0.5);
  save("k.npy", "f4", Type::f32, {1, 1, 4, 8}, 0.1);
  auto said = [&](const std::string &arguments) {
    const Ran r = ran("run alibi " + arguments);
    INFO(r.err);
    CHECK(r.status == 0);
    return r.err;
  };
  const std::string shape = "--shape 1,2,1,4,4,8 --capture slopes=", files = fmt::format("--q {} --k {} --v {} --capture slopes={} ", folder / "q.npy", folder / "k.npy", folder / "k.npy", folder / "exact.npy");
  const std::string rounded = fmt::format("tilewright: warning: {} holds f8, and tensor 'slopes' is f32: 1 of 2 numbers are rounded, the first at [0] from 0.1 to 0.10000000149011612\n", folder / "slopes.npy");
  CHECK(said(shape + folder / "slopes.npy") == rounded);
  CHECK(said(shape + folder / "exact.npy") == "");
  CHECK(said(files + "--dtype f16") == "");
  const std::string of = fmt::format("tilewright: warning: {} holds f4, and tensor ", folder / "k.npy"), how = " is f16: 1 of 32 numbers are rounded, the first at [0, 0, 0, 0] from 0.10000000149011612 to 0.0999755859375\n";
  CHECK(said(files) == of + "'K'" + how + of + "'V'" + how);
  CHECK(ran("mask alibi+causal --shape 1,2,1,4,4,8 --capture slopes=" + folder / "slopes.npy").err == rounded);
}
