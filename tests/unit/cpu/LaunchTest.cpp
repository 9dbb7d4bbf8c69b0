#include "HostKernel.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cpu/Launch.h"
#include <catch2/catch.hpp>

namespace {

/// out[head, row .. row + 4) += 1 below the extent; the count is taken through the scratch's last byte, which must be the item's own.
const char *const mark = R"(
func.func @mark(%out: memref<?x?xi32, strided<[?, ?], offset: ?>>, %head: i32, %row: i32, %extent: i32, %scratch: memref<?xi8>)
    attributes {llvm.emit_c_interface, host.scratch_bytes = 100 : i64} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : i32
  %last = arith.constant 99 : index
  %h = arith.index_cast %head : i32 to index
  %end0 = arith.addi %row, %four : i32
  %end1 = arith.minsi %end0, %extent : i32
  %from = arith.index_cast %row : i32 to index
  %to = arith.index_cast %end1 : i32 to index
  scf.for %r = %from to %to step %one {
    %r8 = arith.index_cast %r : index to i8
    memref.store %r8, %scratch[%last] : memref<?xi8>
    %back8 = memref.load %scratch[%last] : memref<?xi8>
    %back = arith.extui %back8 : i8 to i32
    %x = memref.load %out[%h, %r] : memref<?x?xi32, strided<[?, ?], offset: ?>>
    %y = arith.addi %x, %back : i32
    memref.store %y, %out[%h, %r] : memref<?x?xi32, strided<[?, ?], offset: ?>>
  }
  return
})";

struct Launched {
  std::vector<std::int32_t> out;
  std::int64_t heads, rows;
};

Launched launch(std::int64_t heads, std::int64_t rows, int threads, bool descending, std::size_t misplaced = 0) {
  static const tw::HostObject object = compileHost(mark);
  static const auto code = tw::HostCode::load(object.bytes, object.entry);
  Launched run{std::vector<std::int32_t>(static_cast<std::size_t>(heads * rows), 1000), heads, rows};
  const std::int64_t sizes[] = {heads, rows}, strides[] = {rows, 1};
  tw::MemoryDescriptor out(run.out.data(), sizes, strides);
  std::int32_t extent = static_cast<std::int32_t>(rows);
  void *arguments[] = {out.argument(), nullptr, nullptr, &extent, nullptr};
  const tw::HostAxis axes[] = {{.argument = 1, .extent = heads}, {.argument = 2, .extent = rows, .step = 4, .descending = descending}};
  std::vector<std::byte> workspace(tw::hostWorkspaceBytes(5, 2, object.scratchBytes, threads) + misplaced);
  tw::launchHost(*code, {.arguments = arguments, .axes = axes, .scratchArgument = 4, .scratchBytes = object.scratchBytes,
                         .workspace = workspace.data() + misplaced, .workspaceBytes = workspace.size() - misplaced, .threads = threads});
  return run;
}

} // namespace

TEST_CASE("a launch runs every item once, whatever the threads, the order and the workspace's place") {
  for (int threads : {0, 1, 3})
    for (bool descending : {false, true})
      for (std::size_t misplaced : {0, 1, 63}) {
        Launched run = launch(5, 101, threads, descending, misplaced);
        for (std::int64_t at = 0; at < 5 * 101; ++at)
          CHECK(run.out[static_cast<std::size_t>(at)] == 1000 + at % 101);
      }
}

TEST_CASE("a launch of no items does nothing") {
  CHECK(launch(0, 10, 0, false).out.empty());
  CHECK(launch(10, 0, 0, false).out.empty());
}

TEST_CASE("a launch that cannot be is refused") {
  static const tw::HostObject object = compileHost(mark);
  auto code = tw::HostCode::load(object.bytes, object.entry);
  void *arguments[] = {nullptr, nullptr, nullptr, nullptr, nullptr};
  std::vector<std::byte> workspace(tw::hostWorkspaceBytes(5, 1, 100, 1));
  auto attempt = [&](tw::HostAxis axis, std::size_t scratch, std::size_t bytes) {
    tw::launchHost(*code, {.arguments = arguments, .axes = {&axis, 1}, .scratchArgument = scratch, .scratchBytes = 100,
                           .workspace = workspace.data(), .workspaceBytes = bytes, .threads = 1});
  };
  CHECK_THROWS_WITH(attempt({.argument = 1, .extent = 1}, 4, 100), Catch::Contains("the workspace has 100 bytes and this launch needs "));
  CHECK_THROWS_WITH(attempt({.argument = 5, .extent = 1}, 4, workspace.size()), "an item's coordinate goes to argument #5 of a host function that takes 5");
  CHECK_THROWS_WITH(attempt({.argument = 1, .extent = 1}, 7, workspace.size()), "the scratch goes to argument #7 of a host function that takes 5");
  CHECK_THROWS_WITH(attempt({.argument = 1, .extent = std::int64_t(1) << 31}, 4, workspace.size()), Catch::Contains("an axis of extent 2147483648"));
}
