// `run --on simulator`: a GPU's kernel, checked thread by thread on the CPU.
#include "Ran.h"
#include "Run.h"
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace tw::tests;
using nlohmann::json;

TEST_CASE("a kernel for a GPU is run, checked and reported without a GPU") {
  Ran r = ran("run causal --shape 1,2,1,150,200,64 --on simulator --check --schedule 'block=q q=128 k=64 d=64 e=64 warpgroups=2 stages=2'");
  CHECK(r.err == "");
  CHECK(r.status == 0);
  CHECK_THAT(r.out, Catch::StartsWith("causal bf16 on simulator: B 1, H 2, Hkv 1, Sq 150, Skv 200, D 64, Dv 64\nkernel    compiled for h200 in "));
  CHECK_THAT(r.out, Catch::Contains("\nsimulated 4 items in 2 blocks, thread by thread: ") && Catch::Contains(" s for 2 settings\nlate      right in ") && Catch::Contains("\neager     right in ") &&
                        Catch::Contains("\nO         right: ") && Catch::Contains("\nlse       right: "));
}

TEST_CASE("random settings follow the seed, and the report is JSON too") {
  const json report = json::parse(ran("run 'window(60,10)' --shape 1,1,1,100,150,64 --dtype f16 --on simulator --target h100 --settings 2 --seed 7 --json --check"
                                      " --schedule 'block=q q=64 k=32 d=64 e=64 warpgroups=1 stages=2'")
                                      .out);
  CHECK(report["target"] == "h100");
  CHECK_THAT(report["schedule"].get<std::string>(), Catch::Contains(" k=32 ") && Catch::Contains(" q=64 "));
  REQUIRE(report["settings"].size() == 4);
  CHECK(report["settings"][0]["name"] == "late");
  CHECK(report["settings"][1]["name"] == "eager");
  CHECK(report["settings"][2]["name"] == "random 7");
  CHECK(report["settings"][3]["name"] == "random 8");
  for (const json &setting : report["settings"]) {
    CHECK(setting["right"] == true);
    CHECK(setting["reports"].empty());
    CHECK(setting["products"] > 0);
  }
  CHECK(report["items"] == 2);
  CHECK(report["check"]["O"]["right"] == true);
}

TEST_CASE("a launch that the usual kernel cannot copy runs the one for any strides, which is said") {
  const Ran r = ran("run documents --shape 2,2,1,37,51,64 --on simulator --settings 0 --check");
  CHECK(r.err ==
        "tilewright: kernel 'documents' for h200: tensor 'key_documents' of shape [2, 51] has stride 51 along dimension 0, 204 bytes; a GPU copies it in pieces of 16 bytes, so it must be a "
        "multiple of 4 elements from 0 on: pad its rows. One more kernel is built, which takes any strides, element by element; it is slower\n");
  CHECK(r.status == 0);
  CHECK_THAT(r.out, Catch::Contains("\nO         right: ") && Catch::Contains("\nlse       right: "));
  const Ran backward = ran("run documents --shape 2,2,1,37,51,64 --pass backward --on simulator --settings 0 --check");
  CHECK_THAT(backward.err, Catch::StartsWith("tilewright: kernel 'documents' for h200: tensor 'key_documents' of shape [2, 51] has stride 51 "));
  CHECK(backward.status == 0);
}

TEST_CASE("no items, and no keys") {
  CHECK(ran("run causal --shape 0,2,1,5,6,64 --on simulator --check").status == 0);
  CHECK(ran("run causal --shape 1,2,1,5,0,64 --on simulator --check").status == 0);
}

TEST_CASE("NaN in masked keys spoils nothing in the simulator") {
  const json report = json::parse(ran("run causal --shape 1,1,1,40,60,64 --on simulator --nan-keys -1 --check --json").out);
  CHECK(report["check"]["O"]["nans_in_both"] == 64);   // the last row
  CHECK(report["check"]["O"]["right"] == true);
}

TEST_CASE("what the simulator cannot do in time, or at all, is refused with a cure") {
  auto refusal = [](const std::string &arguments) {
    const Ran r = ran(arguments + " --on simulator");
    CHECK(r.status == 2);
    CHECK(r.out == "");
    return r.err;
  };
  CHECK(refusal("run plain --shape 1,64,1,2048,65536,8 --schedule 'block=q q=128 k=128 d=8 e=8 warpgroups=2 stages=2'") ==
        "tilewright run: this shape takes the simulator up to 99 min for 2 settings, more than --patience 300 s; a small one meets the same code: --shape 1,2,1,300,664,8,8 takes up to 0.5 s; or allow it by "
        "--patience 5917\n");
  CHECK(refusal("run plain --shape 1,1,1,4,4,8 --patience 0.001 --schedule 'block=q q=64 k=32 d=8 e=8 warpgroups=1 stages=2'") ==
        "tilewright run: this shape takes the simulator up to 0.02 s for 2 settings, more than --patience 0.001 s; allow it by --patience 1\n");
  CHECK(refusal("run plain --shape 1,1,1,4,4,8 --patience 0") == "tilewright run: --patience 0: expected a number of seconds, more than 0\n");
  CHECK(refusal("run plain --shape 1,1,1,4,4,8 --settings -1") == "tilewright run: --settings -1: expected a whole number from 0\n");
  CHECK(refusal("run plain --shape 1,1,1,4,4,8 --target host") == "tilewright run: target 'host' is this machine's CPU, for which no GPU text is made; take a GPU, such as h200\n");
  CHECK_THAT(refusal("run plain --shape 1,1,1,4,4,8 --dtype f32"), Catch::Contains("GPUs multiply tiles of f16 and bf16"));
  CHECK_THAT(refusal("run causal --shape 1,3,2,4,4,8"), Catch::Contains("the heads of 'Q' (dimension 1) must be a multiple of the heads of 'K'"));
  CHECK_THAT(refusal("run causal --shape 1,2,1,4,4,12"), Catch::Contains("must be a multiple of 8 from 8 to 1024"));
}

TEST_CASE("what the simulator finds is an error, with the kernel's line") {
  using namespace tw::cli;
  Report report;
  report.target = "h200";
  SimulatedSetting late{"late", {}};
  late.result.reports = {{"RACE-RAW", "line 12 reads what line 10 writes", 12, "x = s[i];"}};
  late.result.found = 3;
  report.settings = {late};
  CHECK_FALSE(report.isClean());
  const Problem problem = randomProblem("plain", tw::Type::bf16, {1, 1, 1, 2, 2, 8, 8}, 1);
  CHECK_THAT(toText(problem, report, {}, {}), Catch::Contains("late      WRONG in 0.00 s; 3 reports, the first 1:\n          RACE-RAW line 12 reads what line 10 writes\n            line 12: x = s[i];\n"));
  const Json json = toJson(problem, report, {}, {});
  CHECK(json["settings"][0]["right"] == false);
  CHECK(json["settings"][0]["reports"][0]["code"] == "RACE-RAW");
  report.settings[0] = {"eager", {}};
  CHECK(report.isClean());
  report.settings[0].differing = 2;
  CHECK_FALSE(report.isClean());
  report.settings[0] = {"eager", {}, false};
  CHECK_FALSE(report.isClean());
}
