// `tilewright explain`: figures that hang together, and what is refused.
#include "Ran.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace tw::tests;
using nlohmann::json;

TEST_CASE("explain says what a schedule takes, what bounds it, and why three others lose") {
  const Ran r = ran("explain causal --target a100 --shape 4,16,16,4096,4096,128");
  INFO(r.out << r.err);
  CHECK(r.status == 0);
  CHECK_THAT(r.out, Catch::StartsWith("causal bf16 for a100: B 4, H 16, Hkv 16, Sq 4096, Skv 4096, D 128, Dv 128\nschedule  block=q d=128 e=128 k=32 q=128 warpgroups=1"));
  CHECK_THAT(r.out, Catch::Contains("; the default one, ") && Catch::Contains("\ntile      128 of q × 32 of k, 2 stages, 1 block buffer\n"));
  CHECK_THAT(r.out, Catch::Contains("\ntakes     66.0 of 81.0 KiB of shared memory, 200 of 248 registers a thread; 2 blocks a multiprocessor, occupancy 12.5%\n"));
  CHECK_THAT(r.out, Catch::Contains("\nitems     2048 in 216 slots, 9.48 waves, ") && Catch::Contains("51.6% of the tiles visited"));
  CHECK_THAT(r.out, Catch::Contains("\nmemory    269.5 MB moved, 1.00 of the compulsory 269.5 MB; 2.35 GB asked of the level-2 cache\n"));
  CHECK_THAT(r.out, Catch::Contains("FLOP a byte, right of the ridge at 201; ") && Catch::Contains("\ntime      ") && Catch::Contains(" predicted, bound by tensor\n") && Catch::Contains("\nnext      "));
}

TEST_CASE("explain as JSON") {
  const json report = json::parse(ran("explain gemma2 --shape 2,8,2,1000,1300,64 --json --all").out);
  CHECK(report["target"] == "h200");
  const json &program = report["programs"][0];
  const json &e = program["estimate"];
  CHECK(program["is_default"] == true);
  CHECK(program["next"].size() == 3);
  CHECK(program["all"].size() == program["search_space"]);
  CHECK(program["all"][std::size_t(program["place"]) - 1]["schedule"] == program["schedule"]);
  for (std::size_t i = 1; i < program["all"].size(); ++i)
    REQUIRE(double(program["all"][i - 1]["estimate"]["seconds"]) <= double(program["all"][i]["estimate"]["seconds"]));
  CHECK(double(e["dram_bytes"]) >= double(e["compulsory_bytes"]));
  CHECK(double(e["compulsory_bytes"]) == 2.0 * 8 * 1000 * 64 * 2 * 2 + 2.0 * 2 * 1300 * 64 * 2 * 2 + 2.0 * 8 * 1000 * 4);
  double largest = 0;
  for (const auto &[name, seconds] : e["terms"].items())
    largest = std::max(largest, double(seconds));
  CHECK(double(e["terms"][std::string(e["bound"])]) == largest);
  CHECK(double(e["seconds"]) > largest * 0.9);
}

TEST_CASE("explain --pass backward speaks of each kernel of the gradients") {
  const json report = json::parse(ran("explain causal --shape 2,8,2,1000,1000,64 --pass backward --json").out);
  CHECK(report["programs"].size() >= 3);
  for (const json &program : report["programs"]) {
    CHECK(double(program["estimate"]["seconds"]) > 0);
    CHECK(double(program["estimate"]["seconds"]) < 1e-3);   // points of other heads' groups cost nothing
  }
}

TEST_CASE("explain --pass backward speaks of the kernels that a build makes") {
  CHECK_THAT(ran("explain plain --target h200 --shape 1,2,2,500,500,64 --pass backward").out, Catch::Contains("\nplain_dV_dK_dQ\n") && Catch::Contains("\nplain_dQ\n") && !Catch::Contains("\nplain_dV_dK\n"));
  CHECK_THAT(ran("explain plain --target a100 --shape 1,2,2,500,500,64 --pass backward").out, Catch::Contains("\nplain_dV_dK\n") && Catch::Contains("\nplain_dQ\n") && !Catch::Contains("\nplain_dV_dK_dQ\n"));
}

TEST_CASE("explain --sram-sweep: twice the memory moves half as much beyond what is compulsory") {
  const json report = json::parse(ran("explain plain --shape 1,8,8,16384,16384,128 --sram-sweep --json").out);
  const json &points = report["programs"][0]["sram"];
  CHECK(points.size() >= 8);
  auto beyond = [](const json &point) { return double(point["least"]["bytes"]) - double(point["least"]["compulsory_bytes"]); };
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double factor = double(points[i]["sram_bytes"]) / double(points[i - 1]["sram_bytes"]);
    CHECK(std::log(beyond(points[i]) / beyond(points[i - 1])) / std::log(factor) == Approx(-1).margin(0.12));
    if (points[i - 1].contains("estimate"))
      CHECK(double(points[i]["estimate"]["seconds"]) <= double(points[i - 1]["estimate"]["seconds"]) * 1.001);
  }
  CHECK_THAT(ran("explain plain --shape 1,8,8,16384,16384,128 --sram-sweep").out, Catch::Contains("\n     227  "));
}

TEST_CASE("explain of a launch of nothing, within a limit, of a schedule that is given") {
  CHECK_THAT(ran("explain causal --shape 0,1,1,4,4,64").out, Catch::Contains("\nitems     none: a length is 0, nothing runs\n"));
  CHECK_THAT(ran("explain plain --shape 1,8,8,1024,1024,64 --shared-limit 48KiB").out, Catch::Contains(" of 48.0 KiB of shared memory"));
  const Ran given = ran("explain plain --shape 1,8,8,1024,1024,64 --schedule 'block=q q=64 k=64 d=64 e=64 warpgroups=1 overlap=yes turns=no drawn=yes stabilised=yes'");
  CHECK_THAT(given.out, Catch::Contains("; as given") && Catch::Contains("\ntile      64 of q × 64 of k, 2 stages, 1 block buffer\n"));
}

TEST_CASE("explain says of two kernels which one the launch takes") {
  const std::string second = "\nsecond    k=64 q=64 warpgroups=1 blocksPerSM=3 turns=no: ";
  CHECK_THAT(ran("explain causal --shape 32,32,32,512,512,64").out, Catch::Contains(second) && Catch::Contains("; this launch takes this kernel\n"));
  CHECK_THAT(ran("explain causal --shape 1,32,32,16384,16384,64").out, Catch::Contains(second) && Catch::Contains("; this launch takes the first kernel\n"));
  CHECK_THAT(ran("explain causal --shape 32,16,16,512,512,128").out, !Catch::Contains("\nsecond "));
  const json made = json::parse(ran("explain causal --shape 32,32,32,512,512,64 --json").out)["programs"][0]["second"];
  CHECK(made["taken"] == true);
  CHECK(made["estimate"]["seconds"] > 0);
}

TEST_CASE("explain refuses what it cannot mean") {
  auto refused = [](const std::string &arguments) {
    const Ran r = ran("explain " + arguments);
    CHECK(r.status == 2);
    CHECK(r.out.empty());
    return r.err;
  };
  CHECK(refused("plain --shape 1,1,1,64,64,64 --target host") == "tilewright explain: --target host: the cost model is of GPUs; take one of `tilewright list --targets`, such as h200\n");
  CHECK(refused("plain --shape 1,1,1,64,64,64 --dtype f32") == "tilewright explain: tensor \"K\" holds 'f32'; GPUs multiply tiles of f16 and bf16: convert it to one of them, or run on the CPU (target host)\n");
  CHECK(refused("plain --shape 1,16,5,64,64,64") == "tilewright explain: program 'plain': the heads of 'Q' (dimension 1) must be a multiple of the heads of 'K', which has at least one; repeat heads of 'K' or drop some of 'Q' (here K.dimension(1) = 5, extent(h) = 16)\n");
  CHECK(refused("plain --shape 1,1,1,64,64,64 --pass sideways") == "tilewright explain: --pass sideways: unknown; expected one of forward, backward\n");
  CHECK(refused("plain --shape 1,1,1,64,64,64 --pass backward --schedule block=q") ==
        "tilewright explain: --schedule --pass backward: the kernels of a gradient have a schedule each; leave one of the two out\n");
  CHECK(refused("plain --shape 1,1,1,64,64,256 --shared-limit 24KiB") ==
        "tilewright explain: program 'plain' fits no schedule on NVIDIA H200 SXM: the smallest tiles need 26624 bytes of shared memory a block, there are 24576, which is the limit asked for: the GPU has 232448; "
        "make an inner axis shorter, or the limit at least 26624\n");
  // What no build would run is not predicted.
  const std::string given = "plain --shape 1,1,1,64,64,64 --schedule ";
  CHECK_THAT(refused(given + "'block=q q=77 k=64 d=64 e=64'"), Catch::StartsWith("tilewright explain: the schedule has q=77 and warpgroups=2; a warpgroup owns 64 rows of a block: take q=128. The schedule: block=q "));
  CHECK_THAT(refused(given + "'block=q q=128 k=64 d=64 e=64 ahead=yes overlap=yes'"), Catch::StartsWith("tilewright explain: the schedule has ahead=yes and overlap=yes: on NVIDIA H200 SXM dots of a step are issued ahead or behind; take overlap=no or ahead=no. "));
  CHECK_THAT(refused(given + "'block=q q=128 k=64 d=128 e=64'"),
             Catch::StartsWith("tilewright explain: the schedule has d=128, and axis 'd' of program 'plain' is 64 long: on a GPU it lies whole inside a tile; take d=64. The schedule: block=q "));
  CHECK_THAT(refused(given + "'block=q q=128 k=64 d=64 e=64 stages=100'"),
             Catch::StartsWith("tilewright explain: the schedule's tiles need 1656832 bytes of shared memory, a block has 232448; make them smaller or its stages fewer. The schedule: block=q "));
  CHECK_THAT(refused("plain --shape 1,1,1,64,64,64 --schedule block=q"), Catch::StartsWith("tilewright explain: the schedule gives no width of at least 1 for axis 'q'; give one: q=64. The schedule: block=q "));
}
