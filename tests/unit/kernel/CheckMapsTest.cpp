// What a GPU's copies need of tensors, each refusal with its exact text.
#include "Checked.h"
#include <catch2/catch.hpp>

using namespace tw;

namespace {

/// X[b, h, k, d] bf16 in tiles of 64 of d, by chunks.
struct Case {
  Artifact artifact;
  Parameter parameter{Parameter::Kind::tensor, "X", "bf16", 4};
  std::vector<CheckedTensor> tensors;

  Case() {
    ParameterField map{ParameterField::Kind::map, "tm_X", {}, "X", "bf16"};
    map.dimensions = {{3, 0, 64, 64}, {2, 0, 0, 64}, {3, 64, 0, 2}, {1, 0, 0, 1}, {0, 0, 0, 1}};
    artifact.launch.fields = {{ParameterField::Kind::extent, "len_k", "k"}, map};
    tensors = {{&parameter, reinterpret_cast<std::byte *>(0x1000), {2, 3, 77, 128}, {3 * 77 * 128, 77 * 128, 128, 1}}};
  }

  std::string refusal() const {
    const std::string why = unfitFor(artifact, tensors);
    return why.empty() ? "accepted" : why;
  }
};

}   // namespace

TEST_CASE("tensors that a GPU can copy") {
  Case c;
  CHECK(c.refusal() == "accepted");
  SECTION("any order of dimensions, any multiple of 16 bytes") {
    c.tensors[0].strides = {8, 77 * 136, 136, 1};
    CHECK(c.refusal() == "accepted");
  }
  SECTION("one element spread over a dimension") {
    c.tensors[0].strides = {0, 77 * 128, 128, 1};
    CHECK(c.refusal() == "accepted");
  }
  SECTION("a dimension one long may have any stride") {
    c.tensors[0].shape = {1, 3, 77, 128};
    c.tensors[0].strides = {7, 77 * 128, 128, 1};
    CHECK(c.refusal() == "accepted");
  }
  SECTION("an empty tensor may be anything") {
    c.tensors[0] = {&c.parameter, nullptr, {2, 3, 0, 128}, {1, 1, 1, 5}};
    CHECK(c.refusal() == "accepted");
  }
}

TEST_CASE("tensors that a GPU cannot copy") {
  Case c;
  SECTION("address") {
    c.tensors[0].data += 8;
    CHECK(c.refusal() ==
          "tensor 'X' lies at address 0x1008, which is no multiple of 16: a GPU copies it in pieces of that many bytes; move it to one that is");
  }
  SECTION("innermost stride") {
    c.tensors[0].strides = {3 * 77 * 256, 77 * 256, 256, 2};
    CHECK(c.refusal() == "tensor 'X' of shape [2, 3, 77, 128] has stride 2 along dimension 3; a GPU copies runs of elements that lie side by side, "
                         "so it must be 1: make the tensor contiguous along that "
                         "dimension");
  }
  SECTION("a stride that is no multiple of 16 bytes") {
    c.tensors[0].strides = {3 * 77 * 132, 77 * 132, 132, 1};
    CHECK(c.refusal() == "tensor 'X' of shape [2, 3, 77, 128] has stride 132 along dimension 2, 264 bytes; a GPU copies it in pieces of 16 bytes, so "
                         "it must be a multiple of 8 elements from 0 on: make "
                         "the tensor contiguous, or pad its rows");
  }
  SECTION("rows of a contiguous tensor that are no multiple of 16 bytes") {
    c.tensors[0].shape = {2, 3, 77, 124};
    c.tensors[0].strides = {3 * 77 * 124, 77 * 124, 124, 1};
    CHECK(c.refusal() == "tensor 'X' of shape [2, 3, 77, 124] has stride 124 along dimension 2, 248 bytes; a GPU copies it in pieces of 16 bytes, so "
                         "it must be a multiple of 8 elements from 0 on: pad its rows");
  }
  SECTION("a negative stride") {
    c.tensors[0].strides = {3 * 77 * 128, -77 * 128, 128, 1};
    CHECK(c.refusal() == "tensor 'X' of shape [2, 3, 77, 128] has stride -9856 along dimension 1, -19712 bytes; a GPU copies it in pieces of 16 "
                         "bytes, so it must be a multiple of 8 elements from 0 on: make "
                         "the tensor contiguous, or pad its rows");
  }
  SECTION("a stride beyond what maps hold") {
    c.tensors[0].strides = {std::int64_t(1) << 40, 77 * 128, 128, 1};
    CHECK(c.refusal() ==
          "tensor 'X' of shape [2, 3, 77, 128] has stride 1099511627776 along dimension 0; a GPU copies with strides below 2^40 bytes");
  }
}

TEST_CASE("tensors that a GPU can and cannot store to in pieces") {
  const std::string type = GENERATE("bf16", "f32");
  Parameter output{Parameter::Kind::tensor, "O", type, 3, true};
  Case c;
  c.artifact.launch.fields.clear();
  c.artifact.launch.storedPieces = {"O"};
  c.artifact.parameters = {output};
  c.tensors = {{&output, reinterpret_cast<std::byte *>(0x1000), {2, 77, 64}, {77 * 64, 64, 1}}};
  const bool isWide = type == "f32";
  CHECK(c.refusal() == "accepted");
  SECTION("rows apart, in any order") {
    c.tensors[0].strides = {-77 * 80, 80, 1};
    CHECK(c.refusal() == "accepted");
  }
  SECTION("a run's stride") {
    c.tensors[0].strides = {77 * 128, 128, 2};
    CHECK(c.refusal() == "tensor 'O' of shape [2, 77, 64] has stride 2 along dimension 2; a GPU stores runs of elements that lie side by side, so it "
                         "must be 1: make the tensor contiguous along that dimension");
  }
  SECTION("an address") {
    c.tensors[0].data += 4;
    CHECK(c.refusal() == std::string("tensor 'O' lies at address 0x1004, which is no multiple of ") + (isWide ? "8" : "16") +
                             ": a GPU stores it in pieces of that many bytes; move it to one that is");
  }
  SECTION("a row's stride") {
    c.tensors[0].strides = {77 * 66, 65, 1};
    CHECK(c.refusal() == (isWide ? "tensor 'O' of shape [2, 77, 64] has stride 65 along dimension 1, 260 bytes; a GPU stores it in pieces of 8 "
                                   "bytes, so it must be a multiple of 2 elements: make the tensor contiguous, or pad its rows"
                                 : "tensor 'O' of shape [2, 77, 64] has stride 65 along dimension 1, 130 bytes; a GPU stores it in pieces of 16 "
                                   "bytes, so it must be a multiple of 8 elements: make the tensor contiguous, or pad its rows"));
  }
  SECTION("numbers of which each has its own place may lie anywhere") {
    c.artifact.launch.storedPieces.clear();
    c.tensors[0].data += 2;
    c.tensors[0].strides = {231, 3, 7};
    CHECK(c.refusal() == "accepted");
  }
}

TEST_CASE("a kernel for any strides takes all of them") {
  Case c;
  c.artifact.launch.strided = true;
  c.tensors[0].data += 2;
  c.tensors[0].strides = {3 * 77 * 129, -77 * 129, 1, 77};
  CHECK(c.refusal() == "accepted");
}
