// What the commands print when all is well.
#include "Ran.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace tw::tests;
using nlohmann::json;

TEST_CASE("help and version") {
  CHECK(ran("--version").out == "tilewright 0.1.0\n");
  CHECK(ran("--help").status == 0);
  for (const char *command : {"doctor", "list", "compile", "run", "explain", "tune", "bench", "cache"}) {
    CAPTURE(command);
    Ran r = ran(std::string(command) + " --help");
    CHECK(r.status == 0);
    CHECK_THAT(r.out, Catch::Contains("--json"));
    CHECK(r.err.empty());
  }
  CHECK(ran("").status == 2);
}

TEST_CASE("docs/gallery.md is what list --markdown writes") {
  std::ifstream file(TILEWRIGHT_GALLERY);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  CHECK(page == ran("list --markdown").out);
}

TEST_CASE("every variant runs from its name and a shape alone") {
  for (const char *variant : {"temperature", "qknorm", "t5", "bias", "forgetting", "natten2d", "documents", "docprefix", "jagged", "longformer", "bigbird", "blocklists", "graph", "sink", "sigmoid", "relu2", "linear", "retention",
                              "dropout", "gated", "differential", "documents+causal+sink"}) {
    const Ran r = ran(std::string("run ") + variant + " --shape 2,2,1,40,50,16 --check --no-cache --repeat 1");
    INFO(variant << "\n" << r.out << r.err);
    CHECK(r.status == 0);
  }
  const Ran r = ran("run sigmoid --shape 1,1,1,4,4,8 --lse x.npy");
  CHECK(r.err == "tilewright run: --lse x.npy: variant 'sigmoid' has no log-sum-exp; leave it out\n");
}

TEST_CASE("list shows the gallery and the targets") {
  Ran r = ran("list");
  CHECK(r.status == 0);
  for (const char *name : {"plain", "causal", "window", "softcap", "alibi", "gemma2", "causal+alibi"})
    CHECK_THAT(r.out, Catch::Contains(name));
  json targets = json::parse(ran("list --targets --json").out);
  CHECK(targets.size() >= 9);
  const std::string text = ran("list --targets").out;
  CHECK_THAT(text, Catch::Contains("  kernels        can be built, and run here\n") && Catch::Contains("  kernels        can be built, and run in the simulator\n"));
  CHECK(targets[0]["name"] == "host");
  CHECK(json::parse(ran("list --json").out)[1]["name"] == "causal");
}

TEST_CASE("doctor says what will be used") {
  Ran r = ran("doctor");
  CHECK(r.status == 0);
  CHECK_THAT(r.out, Catch::Contains("cores") && Catch::Contains("in memory only: ") && Catch::Contains("h200") && Catch::Contains("LLVM"));
  json report = json::parse(ran("doctor --json", "TILEWRIGHT_CACHE=off TILEWRIGHT_THREADS=3").out);
  CHECK(report["processor"]["threads"] == 3);
  CHECK(report["version"] == "0.1.0");
}

TEST_CASE("compile emits each stage, to stdout or to a file") {
  CHECK_THAT(ran("compile causal --emit program").out, Catch::StartsWith("program \"causal\"\n"));
  CHECK_THAT(ran("compile causal --head-dim 64 --emit tile").out, Catch::Contains("tile.dot") && Catch::Contains("bf16"));
  CHECK_THAT(ran("compile causal --head-dim 64 --dtype f16 --emit tile --target h200").out, Catch::Contains("tile.dot") && Catch::Contains("f16"));
  for (const char *emit : {"tile", "host", "device --target h200", "cuda --target h200"})
    CHECK_THAT(ran(std::string("compile causal --head-dim 64 --emit ") + emit).out, Catch::EndsWith("\n") && !Catch::EndsWith("\n\n"));
  CHECK_THAT(ran("compile causal --head-dim 64 --emit host").out, Catch::Contains("vector<") && !Catch::Contains("tile.dot"));
  CHECK_THAT(ran("compile causal --head-dim 192,128 --emit schedule --target rtx4090").out, Catch::StartsWith("block=q d=192 e=128 "));
  CHECK_THAT(ran("compile causal --head-dim 8 --emit tile --schedule 'block=q q=24 k=40 d=8 e=8'").out, Catch::Contains("\"q\", block, 24") && Catch::Contains("\"k\", fold, 40"));
  CHECK_THAT(ran("compile causal --head-dim 128 --emit schedule --target rtx4090 --shared-limit 48KiB").out, Catch::Contains("k=32 q=64 warpgroups=1 stages=1 "));
  CHECK(json::parse(ran("compile causal --head-dim 64 --emit schedule --target h200 --shared-limit 48KiB --json").out)["shared_limit"] == 49152);
  CHECK(json::parse(ran("compile causal --head-dim 64 --emit schedule --target h200 --json").out)["kernels_per_launch"] == 1);
  CHECK_THAT(ran("compile causal --head-dim 64 --emit schedule --target h200").out, Catch::StartsWith("block=q d=64 e=64 k=128 q=192 ") && Catch::Contains("\nsecond block=q d=64 e=64 k=64 q=64 "));
  CHECK_THAT(json::parse(ran("compile causal --head-dim 64 --emit schedule --target h200 --json").out)["second_schedule"].get<std::string>(), Catch::Contains(" blocksPerSM=3 "));
  CHECK_THAT(ran("compile causal --head-dim 128 --emit schedule --target h200").out, !Catch::Contains("second"));
  CHECK_THAT(ran("compile causal --head-dim 64 --target h200 --emit device --shared-limit 40KiB --schedule 'block=q q=128 k=64 d=64 e=64'").err,
             Catch::Contains("bytes of shared memory, a block has 40960; make the schedule's tiles smaller or its stages fewer"));
  Folder folder;
  CHECK(ran(fmt::format("compile gemma2 --emit program -o {}", folder / "p.txt")).status == 0);
  CHECK(folder.read("p.txt") == ran("compile gemma2 --emit program").out);
  CHECK(json::parse(ran("compile gemma2 --emit program --json").out)["text"] == folder.read("p.txt"));
}

TEST_CASE("run checks and reports") {
  Ran r = ran("run causal --shape 1,2,1,20,30,16 --check");
  CHECK(r.err == "");
  CHECK(r.status == 0);
  CHECK_THAT(r.out, Catch::Contains("O         right") && Catch::Contains("lse       right") && Catch::Contains("GFLOP/s") && Catch::Contains("compiled in") && Catch::Contains(" ms; 1 a launch; block="));
  json report = json::parse(ran("run causal --shape 1,2,1,20,30,16 --check --json --dtype f32 --repeat 1").out);
  CHECK(report["check"]["O"]["right"] == true);
  CHECK(report["check"]["O"]["max_error"] < 1e-5);
  CHECK(report["kept_pairs"] == 2 * (20 * 21 / 2 + 20 * 10));   // row i keeps i + 11 keys
  CHECK(report["build"]["kernel"] == "compiled");
  CHECK(report["build"]["kernels_per_launch"] == 1);
  CHECK(ran("run causal --shape 1,2,1,20,30,16 --check --on evaluate").status == 0);
}

TEST_CASE("NaN in what comes out hides neither the kernel nor its time") {
  Ran r = ran("run causal --shape 1,2,1,4,4,8 --nan-keys 0");
  CHECK(r.status == 0);
  CHECK_THAT(r.out, Catch::Contains("\nkernel    compiled in ") && Catch::Contains(" for each of 20 pairs of query and key that the mask keeps\n") && !Catch::Contains("float64"));
  json report = json::parse(ran("run causal --shape 1,2,1,4,4,8 --nan-keys 0 --json").out);
  CHECK(report["build"]["kernel"] == "compiled");
}

TEST_CASE("blanks around a variant and between lengths mean nothing") {
  CHECK_THAT(ran("run ' causal ' --shape ' 1,2, 1,4,4,8'").out, Catch::StartsWith("causal bf16 on cpu: B 1, H 2, Hkv 1, Sq 4, Skv 4, D 8, Dv 8\n"));
  CHECK(ran("compile ' causal' --emit program").out == ran("compile causal --emit program").out);
}

TEST_CASE("run takes and writes .npy files") {
  Folder folder;
  // o of a first run is v of a second; seeds do not matter, shapes do.
  REQUIRE(ran(fmt::format("run plain --shape 1,2,2,9,9,8 --dtype f16 --out {} --lse {}", folder / "o.npy", folder / "lse.npy")).status == 0);
  const std::string o = folder / "o.npy";
  Ran r = ran(fmt::format("run causal --q {} --k {} --v {} --check --out {}", o, o, o, folder / "o2.npy"));
  CHECK(r.err == "");
  CHECK(r.status == 0);
  CHECK_THAT(r.out, Catch::StartsWith("causal f16 on cpu: B 1, H 2, Hkv 2, Sq 9, Skv 9, D 8, Dv 8\n"));
  CHECK_THAT(folder.read("o2.npy"), Catch::Contains("'descr': '<f2'") && Catch::Contains("(1, 2, 9, 8)"));
  CHECK_THAT(folder.read("lse.npy"), Catch::Contains("'descr': '<f4'") && Catch::Contains("(1, 2, 9)"));
  Ran bf16 = ran(fmt::format("run causal --q {} --k {} --v {} --dtype bf16 --check --out {}", o, o, o, folder / "b.npy"));
  CHECK(bf16.status == 0);
  CHECK_THAT(folder.read("b.npy"), Catch::Contains("'descr': '<f4'"));
}

TEST_CASE("every stage of a build is dumped") {
  Folder folder;
  REQUIRE(ran("run causal --shape 1,1,1,4,4,8", "TILEWRIGHT_CACHE=off TILEWRIGHT_DUMP=" + folder.path.string()).status == 0);
  int files = 0;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder.path))
    files += entry.is_regular_file();
  CHECK(files >= 10);
}

TEST_CASE("a dump that a disk does not take leaves no part of a file") {
  Folder folder;
  const std::string limited = "trap '' XFSZ; ulimit -f 8; TILEWRIGHT_CACHE=off TILEWRIGHT_DUMP=" + folder.path.string();   // 4096 bytes a file
  Ran r = ran("run causal --shape 1,1,1,4,4,8", limited);
  CHECK(r.status == 0);
  CHECK_THAT(r.err, Catch::StartsWith("tilewright: TILEWRIGHT_DUMP: cannot write ") && Catch::EndsWith(".txt: File too large; builds go on without it\n"));
  const std::string failed = r.err.substr(42, r.err.find(": File too large") - 42);
  CHECK(std::filesystem::exists(std::filesystem::path(failed).parent_path() / "00-schedule.txt"));
  CHECK_FALSE(std::filesystem::exists(failed));
}
