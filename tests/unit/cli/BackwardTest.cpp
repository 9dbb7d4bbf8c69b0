// `run --pass backward`, as a user meets it.
#include "Npy.h"
#include "Ran.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace tw::tests;
using nlohmann::json;

TEST_CASE("the backward pass of variants is right on the CPU, in every type") {
  for (const char *line : {"plain --shape 1,2,2,33,49,16 --dtype f32", "causal --shape 2,4,2,70,90,16,24 --dtype bf16", "softcap(15)+window(20,0) --shape 1,3,1,65,40,24 --dtype f16",
                           "gemma2 --shape 1,2,1,40,55,8 --dtype f64"}) {
    INFO(line);
    Ran r = ran(std::string("run '") + std::string(line).replace(std::string(line).find(' '), 1, "' ") + " --pass backward --check --json");
    INFO(r.err);
    REQUIRE(r.status == 0);
    json report = json::parse(r.out);
    CHECK(report["pass"] == "backward");
    CHECK(report["kernels"].size() == 4);
    for (const char *name : {"dQ", "dK", "dV"}) {
      INFO(name << " " << report["check"][name].dump());
      CHECK(report["check"][name]["right"] == true);
      CHECK(report["check"][name]["tolerance"].get<double>() < 1);
    }
  }
}

TEST_CASE("captured tensors are among the gradients, and the report is for people too") {
  Ran r = ran("run alibi+causal --shape 1,4,2,50,60,16 --dtype f32 --pass backward --check");
  INFO(r.out << r.err);
  CHECK(r.status == 0);
  for (const char *part : {"alibi+causal f32 backward on cpu: B 1, H 4, Hkv 2, Sq 50, Skv 60, D 16, Dv 16\n", "kernel    alibi+causal_rows: block=q ", "bytes of workspace\n", "\ndslopes   right: ", "\ndQ        right: "})
    CHECK_THAT(r.out, Catch::Contains(part));
}

TEST_CASE("each input moves by a rounding of its own type: what is held in f32 besides, by little") {
  const json check = json::parse(ran("run retention --shape 1,2,1,61,91,16 --dtype bf16 --pass backward --check --json").out)["check"];
  INFO(check.dump());
  for (const auto &[name, gradient] : check.items())
    CHECK(gradient["right"] == true);
  CHECK(check["dK"]["tolerance"] < 1);   // of 17; the powers of decays that bf16 holds would explain four times as much
  CHECK(check["ddecays"]["tolerance"] < 200);
}

TEST_CASE("a gradient of one element, which one move of the inputs may hardly change, is measured by several") {
  const json check = json::parse(ran("run kerple --shape 1,1,1,37,51,64 --seed 3 --pass backward --on evaluate --check --json").out)["check"];
  INFO(check.dump());
  CHECK(check["dstrengths"]["right"] == true);
  CHECK(check["dstrengths"]["tolerance"] > 0.15);   // kernels for GPUs are off by 0.08
  CHECK(check["dstrengths"]["tolerance"] < 1);
}

TEST_CASE("a gradient that is 0 because its terms cancel may be off by what rounding makes of these, and by no more") {
  for (const char *type : {"f32", "f64"}) {
    const json check = json::parse(ran(std::string("run forgetting --shape 1,2,1,64,64,64 --pass backward --check --json --dtype ") + type).out)["check"];
    INFO(type << " " << check.dump());
    const double rounding = type[1] == '3' ? 0x1p-24 : 0x1p-53;
    CHECK(check["dquery_gates"]["right"] == true);      // a bias of a whole row moves no weight of it
    CHECK(check["dquery_gates"]["tolerance"] > 10 * rounding);
    CHECK(check["dquery_gates"]["tolerance"] < 1000 * rounding);
    CHECK(check["dK"]["tolerance"] < 1000 * rounding);
  }
}

TEST_CASE("-inf in a bias masks, and both passes are checked as closely as without") {
  Folder folder;
  std::string bytes;
  for (int i = 0; i < 2 * 9 * 11; ++i) {
    const float bias = i % 4 == 1 || (i >= 22 && i < 33) ? -INFINITY : float(i % 7) / 4;   // a row with nothing left, too
    bytes.append(reinterpret_cast<const char *>(&bias), sizeof bias);
  }
  folder.write("bias.npy", tw::cli::formatNpy({"f4", {1, 2, 9, 11}, bytes}));
  for (const char *pass : {"forward", "backward"}) {
    const Ran r = ran(fmt::format("run bias --shape 1,2,1,9,11,16 --check --json --pass {} --capture bias={}", pass, folder / "bias.npy"));
    INFO(r.out << r.err);
    CHECK(r.status == 0);
    for (const auto &[name, check] : json::parse(r.out)["check"].items()) {
      CHECK(check["right"] == true);
      CHECK(check["tolerance"] > 0);
      CHECK(check["tolerance"] < 0.1);
    }
  }
}

TEST_CASE("the interpreter has a backward pass, and what means nothing with one is refused") {
  CHECK(ran("run causal --shape 1,2,1,20,30,8 --dtype f32 --pass backward --on evaluate --check").status == 0);
  Ran r = ran("run causal --shape 1,2,1,20,30,8 --pass backward --out o.npy");
  CHECK(r.status == 2);
  CHECK_THAT(r.err, Catch::Contains("--out goes with --pass forward, not with --pass backward; leave it out"));
  CHECK(ran("run causal --shape 1,2,1,20,30,8 --pass sideways").status == 2);
}

TEST_CASE("all kernels of a gradient run in the simulator, with lengths that are no multiple of anything") {
  const Ran text = ran("run causal --shape 1,2,1,71,45,64 --pass backward --on simulator --check");
  INFO(text.out << text.err);
  CHECK(text.status == 0);
  for (const char *part : {"causal bf16 backward on simulator: B 1, H 2, Hkv 1, Sq 71, Skv 45, D 64, Dv 64\nkernel    causal: block=q ", "\nkernel    causal_dV_dK: block=k ",
                           "\nsimulated forward and backward, thread by thread: ", " s for 2 settings\nlate      right in ", "\neager     right in ", "\ndQ        right: "})
    CHECK_THAT(text.out, Catch::Contains(part));
  const json report = json::parse(ran("run alibi --shape 1,2,2,33,70,64 --dtype f16 --pass backward --on simulator --target h100 --settings 1 --seed 3 --check --json").out);
  CHECK(report["kernels"].size() >= 4);
  REQUIRE(report["settings"].size() == 3);
  CHECK(report["settings"][2]["name"] == "random 3");
  for (const json &setting : report["settings"])
    CHECK(setting["right"] == true);
  for (const char *name : {"dQ", "dK", "dV", "dslopes"})
    CHECK(report["check"][name]["right"] == true);
}

TEST_CASE("a backward pass that the simulator cannot do in time is refused with a shape that it can") {
  const Ran r = ran("run plain --shape 1,64,1,2048,65536,64 --pass backward --on simulator");
  CHECK(r.status == 2);
  CHECK_THAT(r.err, Catch::StartsWith("tilewright run: this shape takes the simulator up to ") && Catch::Contains(" for 2 settings, more than --patience 300 s; a small one meets the same code: --shape 1,2,1,"));
}

TEST_CASE("gates of every element and a second softmax over the same values have gradients on a GPU") {
  for (const char *line : {"gated --shape 1,2,1,37,45,16", "gated --deterministic --shape 1,1,1,64,64,64", "differential --target a100 --shape 1,2,1,33,40,16,24"}) {
    const Ran r = ran(std::string("run ") + line + " --pass backward --on simulator --check");
    INFO(r.out << r.err);
    CHECK(r.status == 0);
  }
}

TEST_CASE("edge row 40: what lies between kernels is linear in the length") {
  auto bytes = [](const char *shape) { return json::parse(ran(std::string("run plain --shape ") + shape + " --dtype f32 --pass backward --repeat 1 --json").out)["workspace_bytes"].get<double>(); };
  const double own = bytes("1,1,1,1,1,8"), once = bytes("1,4,4,256,256,8") - own, twice = bytes("1,4,4,512,512,8") - own;
  CHECK(twice < 2.1 * once);
}
