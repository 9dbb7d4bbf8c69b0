// The importer: every program of the gallery becomes a kernel that verifies; what it cannot import it refuses.
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/import/ImportProgram.h"
#include <catch2/catch.hpp>

using namespace tw;

namespace {

Schedule someSchedule(const Roles &roles) {
  Schedule schedule;
  schedule.block = roles.block().name();
  for (std::size_t i = 0; i < roles.axes.size(); ++i)
    if (roles.roles[i] != Role::free)
      schedule.widths[roles.axes[i].name()] = 16;
  return schedule;
}

/// Imports, verifies, prints.
std::string imported(const Program &program) {
  Roles roles = rolesOf(program);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = importProgram(context, program, roles, someSchedule(roles));
  REQUIRE(mlir::succeeded(mlir::verify(*module)));
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

bool holds(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("every variant of the gallery imports and verifies") {
  for (const Variant &variant : gallery())
    for (Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
      INFO(variant.name << " in " << name(type));
      std::string text = imported(makeVariant(variant.name, {.type = type}));
      CHECK(holds(text, "#tile.kernel<[<\"b\", free, 1>, <\"h\", free, 1>"));
      CHECK(holds(text, "tile.fold = \"k\""));
      CHECK(holds(text, "tile.store"));
    }
}

TEST_CASE("what does not change from step to step stands before the loop") {
  std::string text = imported(makeVariant("causal", {.type = Type::bf16}));
  auto loop = text.find("scf.for");
  REQUIRE(loop != std::string::npos);
  CHECK(text.find("tile.load %arg") < loop);                     // the block's own operand
  CHECK(text.find("tile.dot") > loop);
  CHECK(text.find("arith.floordivsi") < loop);                   // the head group
}

TEST_CASE("loads by anything else than one coordinate and a shift are gathers") {
  Axis t("t"), v("v"), d("d");
  Tensor X("X", Type::f32, 2), W("W", Type::f32, 2), table("table", Type::f32, 1), O("O", Type::f32, 1);
  auto [acc] = fold(v, std::tuple{full(0, {t})}, [&](Tile acc) {
    Tile s = dot(X(t, d), W(v, d), over(d)) + table((t - v) % 4) + table(v + 1);
    return std::tuple{acc + sum(s, over(v))};
  });
  std::string text = imported({"gathered", {store(O, {t}, acc)}});
  CHECK(holds(text, "tile.gather %arg"));
  CHECK(holds(text, "dims [0] : memref<?xf32"));                 // table(v + 1) is a rectangle
}

TEST_CASE("a bool tensor is bytes in memory") {
  Axis t("t"), v("v"), d("d");
  Tensor X("X", Type::f32, 2), W("W", Type::f32, 2), keep("keep", Type::boolean, 1), O("O", Type::f32, 1);
  auto [acc] = fold(v, std::tuple{full(0, {t})}, [&](Tile acc) {
    return std::tuple{acc + sum(where(keep(v), dot(X(t, d), W(v, d), over(d)), 0.0), over(v))};
  });
  std::string text = imported({"kept", {store(O, {t}, acc)}});
  CHECK(holds(text, "memref<?xi8"));
  CHECK(holds(text, "arith.cmpi ne"));
}

TEST_CASE("the block axis is chosen, or refused with the reason") {
  Axis t("t"), v("v"), d("d");
  Tensor X("X", Type::f32, 2), W("W", Type::f32, 2), Y("Y", Type::f32, 2);
  auto [acc] = fold(v, std::tuple{full(0, {t, d})}, [&](Tile acc) { return std::tuple{acc + dot(X(t, v), W(v, d), over(v))}; });
  Program gemm{"gemm", {store(Y, {t, d}, acc)}};
  CHECK(rolesOf(gemm).block().name() == "t");
  CHECK(rolesOf(gemm, "d").block().name() == "d");
  CHECK(rolesOf(gemm).of(d) == Role::inner);
  CHECK_THROWS_WITH(rolesOf(gemm, "v"), Catch::Contains("'Y[t, d]' is not stored along axis 'v', which the schedule makes the block axis; it must be in every store and in exactly one operand of every dot"));
}

TEST_CASE("a fold around a fold is a plain loop over points, and its condition stays between them") {
  Axis u("u"), t("t"), v("v");
  Tensor X("X", Type::f32, 3), R("R", Type::f32, 1);
  auto [r] = fold(u, std::tuple{full(0, {t})}, [&](Tile outer) {
    return fold(v, std::tuple{outer}, [&](Tile r) { return std::tuple{r + sum(sum(where(u / 2 == 1, X(u, t, v), 0.0), over(v)), over(u))}; });
  });
  const Program program{"nested", {store(R, {t}, r)}};
  const Roles roles = rolesOf(program);
  CHECK(roles.of(u) == Role::point);
  CHECK(roles.of(v) == Role::fold);
  CHECK_FALSE(roles.isTiled(u));
  REQUIRE(roles.around.size() == 1);
  std::string text = imported(program);
  const auto outer = text.find("scf.for"), inner = text.find("scf.for", outer + 1);
  REQUIRE(inner != std::string::npos);
  CHECK(text.find("arith.floordivsi") > outer);
  CHECK(text.find("arith.floordivsi") < inner);
  CHECK(holds(text, "tile.fold = \"v\""));
  CHECK_FALSE(holds(text, "tile.fold = \"u\""));
}
