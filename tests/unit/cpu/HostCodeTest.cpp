#include "HostKernel.h"
#include "tilewright/artifact/HostImage.h"
#include "tilewright/artifact/RuntimeError.h"
#include <catch2/catch.hpp>
#include <thread>

namespace {

/// C[i, j] = A[i, j] + B[i, j] · by, of any strides.
const char *const add = R"(
func.func @add(%a: memref<?x?xf32, strided<[?, ?], offset: ?>>, %b: memref<?x?xf32, strided<[?, ?], offset: ?>>,
               %c: memref<?x?xf32, strided<[?, ?], offset: ?>>, %rows: i32, %columns: i32, %by: f64, %scratch: memref<?xi8>)
    attributes {llvm.emit_c_interface, host.scratch_bytes = 192 : i64} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = arith.index_cast %rows : i32 to index
  %n = arith.index_cast %columns : i32 to index
  %factor = arith.truncf %by : f64 to f32
  scf.for %i = %zero to %m step %one {
    scf.for %j = %zero to %n step %one {
      %x = memref.load %a[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %y = memref.load %b[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %p = arith.mulf %y, %factor : f32
      %s = arith.addf %x, %p : f32
      memref.store %s, %c[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    }
  }
  return
})";

const tw::HostObject &added() {
  static const tw::HostObject object = compileHost(add);
  return object;
}

/// Runs `add` on 3 x 5 elements, B transposed in memory.
void checkAdd(const tw::HostCode &code) {
  std::vector<float> a(3 * 7), b(5 * 4), c(3 * 6, -1);
  for (std::size_t at = 0; at < a.size(); ++at)
    a[at] = static_cast<float>(at);
  for (std::size_t at = 0; at < b.size(); ++at)
    b[at] = static_cast<float>(100 * at);
  const std::int64_t sizes[] = {3, 5}, strideA[] = {7, 1}, strideB[] = {1, 4}, strideC[] = {6, 1}, size[] = {0}, unit[] = {1};
  tw::MemoryDescriptor A(a.data(), sizes, strideA), B(b.data(), sizes, strideB), C(c.data(), sizes, strideC), scratch(nullptr, size, unit);
  std::int32_t rows = 3, columns = 5;
  double by = 0.5;
  void *arguments[] = {A.argument(), B.argument(), C.argument(), &rows, &columns, &by, scratch.argument()};
  code(arguments);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 6; ++j)
      CHECK(c[static_cast<std::size_t>(6 * i + j)] == (j == 5 ? -1.0f : static_cast<float>(7 * i + j) + 50.0f * static_cast<float>(i + 4 * j)));
}

} // namespace

TEST_CASE("a host function is compiled, loaded and called") {
  CHECK(added().entry == "add_entry");
  CHECK(added().scratchBytes == 192);
  CHECK(added().llvmText.empty());
  checkAdd(*tw::HostCode::load(added().bytes, added().entry));
}

TEST_CASE("one object may be loaded many times, and from many threads") {
  auto first = tw::HostCode::load(added().bytes, added().entry), second = tw::HostCode::load(added().bytes, added().entry);
  checkAdd(*first);
  first.reset();
  checkAdd(*second);
  std::vector<std::shared_ptr<const tw::HostCode>> loaded(4);
  std::vector<std::thread> threads;
  for (auto &code : loaded)
    threads.emplace_back([&] { code = tw::HostCode::load(added().bytes, added().entry); });
  for (std::thread &thread : threads)
    thread.join();
  for (auto &code : loaded)
    checkAdd(*code);
}

TEST_CASE("compiling twice gives the same bytes") { CHECK(compileHost(add).bytes == added().bytes); }

TEST_CASE("text is given when asked for") {
  tw::HostObject object = compileHost(add, {.wantText = true});
  CHECK(object.llvmText.find("define void @add_entry") != std::string::npos);
  CHECK(object.assembly.find("add_entry:") != std::string::npos);
  CHECK(object.bytes == added().bytes);
}

TEST_CASE("damaged and foreign code is refused, never run") {
  const std::string &bytes = added().bytes;
  CHECK_THROWS_AS(tw::HostCode::load("", "add_entry"), tw::RuntimeError);
  CHECK_THROWS_AS(tw::HostCode::load(std::string_view(bytes).substr(0, bytes.size() / 2), "add_entry"), tw::RuntimeError);
  std::string altered = bytes;
  altered[altered.size() / 2] = static_cast<char>(altered[altered.size() / 2] ^ 4);
  CHECK_THROWS_AS(tw::HostCode::load(altered, "add_entry"), tw::RuntimeError);

  tw::HostImage image = tw::openHostImage(bytes);
  tw::HostImage foreign = image;
  foreign.triple = "riscv64-unknown-linux-gnu";
  CHECK_THROWS_WITH(tw::HostCode::load(tw::sealHostImage(foreign), "add_entry"), Catch::Contains("it was made for riscv64-unknown-linux-gnu and this process runs on "));
  tw::HostImage noObject = image;
  noObject.object = "no object at all";
  CHECK_THROWS_WITH(tw::HostCode::load(tw::sealHostImage(noObject), "add_entry"), Catch::Contains("host code 'add_entry' cannot be loaded: "));
  CHECK_THROWS_WITH(tw::HostCode::load(bytes, "subtract_entry"), Catch::Contains("host code 'subtract_entry' cannot be loaded: ") && Catch::Contains("Symbols not found"));
}

#ifdef __x86_64__
TEST_CASE("code for a better CPU is refused") {
  tw::HostImage image = tw::openHostImage(added().bytes);
  image.features = {"amx-tile", "avx10.2"};   // no machine that tests run on has both
  CHECK_THROWS_WITH(tw::HostCode::load(tw::sealHostImage(image), "add_entry"), Catch::Contains("which this CPU (") && Catch::Contains("avx10.2"));
}
#endif

TEST_CASE("what cannot be compiled is an error that names it") {
  CHECK_THROWS_WITH(compileHost("module {}"), "no LLVM function with host.scratch_bytes; run the pipeline host-to-llvm first");
  CHECK_THROWS_WITH(compileHost(add, {.cpu = "abacus"}), Catch::Contains("processor 'abacus'"));
  CHECK_THROWS_WITH(compileHost(R"(
    func.func private @system(memref<?xi8>)
    func.func @shell(%scratch: memref<?xi8>) attributes {llvm.emit_c_interface, host.scratch_bytes = 0 : i64} {
      func.call @system(%scratch) : (memref<?xi8>) -> ()
      return
    })"), "the code calls system, which the runtime does not have");
  CHECK_THROWS_WITH(compileHost(R"(
    func.func @plain(%scratch: memref<?xi8>) attributes {host.scratch_bytes = 0 : i64} {
      return
    })"), "the function lacks llvm.emit_c_interface");
}
