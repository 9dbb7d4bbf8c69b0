// Bad input gives exit status 2 and one message that names the thing and the cure; nothing is written.
#include "Npy.h"
#include "Ran.h"
#include <catch2/catch.hpp>
#include <sys/stat.h>

using namespace tw::tests;
using tw::cli::formatNpy;

namespace {
std::string refusal(const std::string &arguments) {
  Ran r = ran(arguments);
  if (r.status != 2)
    return fmt::format("status {}: {}{}", r.status, r.out, r.err);
  return r.out.empty() ? r.err : "printed " + r.out;
}
const std::string shape = " --shape 1,2,1,4,4,8";
} // namespace

TEST_CASE("words that are unknown") {
  CHECK(refusal("rum causal") == "tilewright: 'rum' is no command; did you mean 'run'?; the commands are doctor, list, compile, run, mask, explain, tune, bench, cache, opt\n");
  CHECK(refusal("run casual" + shape) ==
        "tilewright run: variant 'casual': 'casual' is unknown; did you mean 'causal'?; `tilewright list` shows the 42 that are known, which combine by +\n");
  CHECK(refusal("run causal+" + shape) == "tilewright run: variant 'causal+': a name is missing; `tilewright list` shows the 42 that are known, which combine by +\n");
  CHECK(refusal("run causal+zebra" + shape) == "tilewright run: variant 'causal+zebra': 'zebra' is unknown; `tilewright list` shows the 42 that are known, which combine by +\n");
  CHECK_THAT(refusal("compile causal --head-dim 64 --target h20"), Catch::StartsWith("tilewright compile: ") && Catch::Contains("h20") && Catch::Contains("h200"));
  CHECK(refusal("compile causal --head-dim 64 --emit tiles") == "tilewright compile: --emit tiles: unknown; did you mean 'tile'?; expected one of program, schedule, tile, host, device, cuda, ptx, cubin\n");
  CHECK(refusal("run causal" + shape + " --on gpo") == "tilewright run: --on gpo: unknown; did you mean 'gpu'?; expected one of cpu, gpu, simulator, evaluate\n");
  CHECK(refusal("run causal" + shape + " --dtype f8") == "tilewright run: --dtype f8: unknown; expected one of f16, bf16, f32, f64\n");
  CHECK(refusal("run causal --shap 1,2") == "tilewright run: '--shap' is no option of it; did you mean '--shape'?; see tilewright run --help\n");
  CHECK(refusal("run causal --frob 1") == "tilewright run: '--frob' is no option of it; see tilewright run --help\n");
  CHECK(refusal("run causal plain" + shape) == "tilewright run: 'plain' is one word too many; see tilewright run --help\n");
  CHECK(refusal("cache empty") == "tilewright cache: cache empty: unknown; expected one of list, stats, clear, verify\n");
}

TEST_CASE("values that are malformed") {
  CHECK(refusal("run causal --shape 1") == "tilewright run: --shape 1: 1 number; expected B,H,Hkv,Sq,Skv,D or B,H,Hkv,Sq,Skv,D,Dv\n");
  CHECK(refusal("run causal --shape ''") == "tilewright run: --shape: an empty value; leave the option out, or say what is meant; see tilewright run --help\n");
  for (const char *seed : {"-1", "18446744073709551616", "x"})
    CHECK(refusal("run causal" + shape + " --seed " + seed) == fmt::format("tilewright run: --seed {}: expected a whole number from 0 to 18446744073709551615\n", seed));
  CHECK(refusal("run causal" + shape + " --scalar x=1 --scalar x=2") == "tilewright run: --scalar x: 'x' is given twice\n");
  CHECK(refusal("tune causal --target h200 --offline --shapes 1,2") == "tilewright tune: --shapes 1,2: 2 numbers; expected B,H,Hkv,Sq,Skv,D or B,H,Hkv,Sq,Skv,D,Dv\n");
  CHECK(refusal("run causal --shape 1,2") == "tilewright run: --shape 1,2: 2 numbers; expected B,H,Hkv,Sq,Skv,D or B,H,Hkv,Sq,Skv,D,Dv\n");
  CHECK(refusal("run causal --shape 1,2,x,4,4,8") == "tilewright run: --shape 1,2,x,4,4,8: 'x' is no whole number; expected B,H,Hkv,Sq,Skv,D or B,H,Hkv,Sq,Skv,D,Dv\n");
  CHECK(refusal("run causal --shape 1,2,1,-4,4,8") == "tilewright run: --shape 1,2,1,-4,4,8: -4 is no length; lengths count from 0\n");
  CHECK(refusal("run causal" + shape + " --repeat x") == "tilewright run: --repeat x: expected a whole number; see tilewright run --help\n");
  CHECK(refusal("run causal" + shape + " --on simulator --patience soon") == "tilewright run: --patience soon: expected a number; see tilewright run --help\n");
  CHECK(refusal("run causal" + shape + " --repeat 0") == "tilewright run: --repeat 0: expected a whole number from 1\n");
  CHECK(refusal("run causal" + shape + " --nan-keys 4") == "tilewright run: --nan-keys 4: there are 4 keys; keys go from 0 to 3, or from -1 back to -4\n");
  CHECK(refusal("run causal" + shape + " --scalar x=abc") == "tilewright run: --scalar x=abc: 'abc' is no number\n");
  CHECK(refusal("run 'window(1)'" + shape) == "tilewright run: variant 'window(1)': window takes 2 numbers, got 1\n");
  CHECK(refusal("compile causal --head-dim 1,2,3 --emit tile") == "tilewright compile: --head-dim 1,2,3: 3 numbers; expected D or D,Dv\n");
  CHECK(refusal("compile causal --head-dim 64 --schedule 'block=q q'").find("'q' is no field=value") != std::string::npos);
  CHECK(refusal("run causal" + shape + " --schedule 'block=q q=8 k=8 d=8 e=8 zebra=3'") == "tilewright run: the schedule gives axis 'zebra' a width of 3, but program 'causal' has no such axis\n");
}

TEST_CASE("what is missing or does not go together") {
  CHECK(refusal("run") == "tilewright run: variant is required; see tilewright run --help\n");
  CHECK(refusal("run causal") == "tilewright run: give either --shape B,H,Hkv,Sq,Skv,D[,Dv] for random inputs, or --q, --k and --v for inputs from files\n");
  CHECK(refusal("run causal --q x.npy") == "tilewright run: --k is missing: inputs from files need --q, --k and --v\n");
  CHECK(refusal("run causal" + shape + " --capture slopes=x.npy") == "tilewright run: --capture slopes=x.npy: variant 'causal' reads no tensor of that name; it reads Q, K and V only\n");
  CHECK(refusal("run causal" + shape + " --on evaluate --schedule 'block=q q=8 k=8 d=8 e=8'") == "tilewright run: --schedule goes with --on cpu or gpu or simulator, not with --on evaluate; leave it out\n");
  CHECK(refusal("compile causal --head-dim 64 --target l4 --shared-limit 48k") == "tilewright compile: --shared-limit '48k': expected a number of bytes from 1 to 1 TiB, such as 49152 or 48KiB\n");
  CHECK(refusal("run causal --shape 1,1,1,8,8,8 --shared-limit 48KiB") == "tilewright run: --shared-limit goes with --on gpu or simulator, not with --on cpu; leave it out\n");
  CHECK_THAT(refusal("compile causal --head-dim 256 --target l4 --shared-limit 24KiB --emit schedule"), Catch::Contains("need 26624 bytes") && Catch::EndsWith("or the limit at least 26624\n"));
  CHECK(refusal("compile causal --emit tile") == "tilewright compile: --emit tile needs --head-dim D[,Dv]: a kernel is made for one head dim\n");
  CHECK(refusal("compile causal --head-dim 64 --emit host --target h200") ==
        "tilewright compile: --emit host --target h200: the host code is what the CPU target makes; emit device, cuda, ptx or cubin for NVIDIA H200 SXM, or take --target host\n");
  CHECK(refusal("run causal" + shape + " --target h200") == "tilewright run: --target goes with --on gpu or simulator, not with --on cpu; leave it out\n");
  CHECK(refusal("run causal" + shape + " --settings 1") == "tilewright run: --settings goes with --on simulator, not with --on cpu; leave it out\n");
  CHECK(refusal("run causal" + shape + " --on simulator --repeat 3") == "tilewright run: --repeat goes with --on cpu or gpu, not with --on simulator; leave it out\n");
  CHECK(refusal("run causal" + shape + " --scalar cap=3") == "tilewright run: program 'causal' has no scalar 'cap'; it has none\n");
}

TEST_CASE("shapes that do not fit the program") {
  CHECK_THAT(refusal("run causal --shape 1,3,2,4,4,8"), Catch::Contains("the heads of 'Q' (dimension 1) must be a multiple of the heads of 'K'") && Catch::Contains("extent(h) = 3"));
  CHECK_THAT(refusal("run causal --shape 1,2,1,4,4,12"), Catch::Contains("must be a multiple of 8 from 8 to 1024") && Catch::Contains("extent(d) = 12"));
  CHECK_THAT(refusal("run causal --shape 1,2,1,4,4,1032"), Catch::Contains("must be a multiple of 8 from 8 to 1024") && Catch::Contains("extent(d) = 1032"));
  CHECK(refusal("compile causal --head-dim 7") == "tilewright compile: --head-dim: 7 is out of range; head dims are multiples of 8 from 8 to 1024: pad with zeros and state the scale\n");
  CHECK(refusal("compile causal --head-dim 1032") == "tilewright compile: --head-dim: 1032 is out of range; head dims are multiples of 8 from 8 to 1024\n");
}

TEST_CASE("files") {
  Folder folder;
  auto save = [&](const char *name, const char *type, std::vector<std::int64_t> shape) {
    std::size_t size = static_cast<std::size_t>(type[1] - '0');
    for (std::int64_t n : shape)
      size *= static_cast<std::size_t>(n);
    folder.write(name, formatNpy({type, shape, std::string(size, '\0')}));
  };
  save("q.npy", "f4", {1, 2, 4, 8});
  save("k.npy", "f4", {1, 1, 4, 8});
  save("flat.npy", "f4", {4, 8});
  save("short.npy", "f4", {1, 1, 3, 8});
  save("bits.npy", "u2", {1, 2, 4, 8});
  save("slopes.npy", "f4", {3});
  folder.write("broken.npy", "\x93NUMPY broken");
  auto with = [&](const char *variant, const char *q, const char *k, const char *v, const std::string &more = "") {
    return refusal(fmt::format("run {} --q {} --k {} --v {} {}", variant, folder / q, folder / k, folder / v, more));
  };
  CHECK(with("causal", "none.npy", "k.npy", "k.npy") == fmt::format("tilewright run: cannot read {}: No such file or directory\n", folder / "none.npy"));
  CHECK_THAT(with("causal", "broken.npy", "k.npy", "k.npy"), Catch::Contains("broken.npy: at byte 6: version 32 of the format; expected 1, 2 or 3"));
  CHECK_THAT(with("causal", "q.npy", "flat.npy", "k.npy"), Catch::Contains("flat.npy has 2 dimensions, [4, 8]; tensor 'K' has 4\n"));
  CHECK_THAT(with("causal", "bits.npy", "k.npy", "k.npy"), Catch::EndsWith("bits.npy holds u2, which is read as bf16 only: say --dtype bf16\n"));
  CHECK(with("causal", "q.npy", "k.npy", "short.npy") ==
        fmt::format("tilewright run: axis 'k' is 4 long along dimension 2 of --k {} and 3 along dimension 2 of --v {}; they must agree\n", folder / "k.npy", folder / "short.npy"));
  CHECK(with("alibi", "q.npy", "k.npy", "k.npy") == "tilewright run: variant 'alibi' reads tensor 'slopes' too; give it: --capture slopes=FILE.npy\n");
  CHECK(with("alibi", "q.npy", "k.npy", "k.npy", "--capture slopes=" + (folder / "slopes.npy")) ==
        fmt::format("tilewright run: axis 'h' is 2 long along dimension 1 of --q {} and 3 along dimension 0 of --capture slopes={}; they must agree\n", folder / "q.npy", folder / "slopes.npy"));
  CHECK_THAT(with("causal", "q.npy", "k.npy", "k.npy", "--capture slopes=" + (folder / "slopes.npy")), Catch::Contains("variant 'causal' reads no tensor of that name; it reads Q, K and V only"));
  CHECK(with("causal", "q.npy", "k.npy", "k.npy", "--capture slopes") == "tilewright run: --capture slopes: expected NAME=FILE.npy\n");
  CHECK(with("alibi", "q.npy", "k.npy", "k.npy", fmt::format("--capture slopes={0} --capture slopes={0}", folder / "slopes.npy")) == "tilewright run: --capture slopes: 'slopes' is given twice\n");
  CHECK(with("causal", "q.npy", "k.npy", "k.npy", "--seed 3") == "tilewright run: --seed goes with --shape; inputs from files are not random\n");
  CHECK(with("causal", "q.npy", "k.npy", "k.npy", "--out " + (folder / "./k.npy")) == fmt::format("tilewright run: --out {}: that is the file of --k too; name another\n", folder / "./k.npy"));
}

TEST_CASE("a source without an end is read no further than the header says") {
  Folder folder;
  folder.write("q.npy", formatNpy({"f4", {1, 1, 2, 8}, std::string(64, '\0')}));
  auto from = [&](const std::string &q) { return fmt::format("run causal --q {} --k {} --v {}", q, folder / "q.npy", folder / "q.npy"); };
  CHECK(refusal(from("/dev/zero")) == "tilewright run: /dev/zero: at byte 0: no .npy file: expected it to begin with \\x93NUMPY\n");
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  REQUIRE(std::system(fmt::format("(cat {}; yes) >{} 2>/dev/null &", folder / "q.npy", pipe).c_str()) == 0);
  CHECK(refusal(from(pipe)) == fmt::format("tilewright run: {}: at byte 192: more than the array: f4 [1, 1, 2, 8] has 64 bytes of data, there are more\n", pipe));
  const std::string whole = folder / "whole";   // the writer of the other one may not have ended yet
  REQUIRE(::mkfifo(whole.c_str(), 0600) == 0);
  REQUIRE(std::system(fmt::format("cat {} >{} &", folder / "q.npy", whole).c_str()) == 0);
  CHECK(ran(from(whole)).status == 0);
}

TEST_CASE("outputs are written both or neither, and never over another file of the run") {
  Folder folder;
  const std::string a = folder / "a.npy", run = "run causal" + shape;
  auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder.path), {}); };
  CHECK(refusal(fmt::format("{} --out {} --lse {}", run, a, folder / "./a.npy")) == fmt::format("tilewright run: --lse {}: that is the file of --out too; name another\n", folder / "./a.npy"));
  CHECK(refusal(fmt::format("{} --out {} --lse /proc/no/b.npy", run, a)) == "tilewright run: cannot write /proc/no/b.npy: No such file or directory\n");
  CHECK(refusal(fmt::format("{} --out {} --lse /dev/full", run, a)) == "tilewright run: cannot write /dev/full: No space left on device\n");
  CHECK(refusal(fmt::format("{} --out {} --lse /tmp", run, a)) == "tilewright run: cannot write /tmp: Is a directory\n");
  CHECK(refusal(run + " --out -") == "tilewright run: --out -: stdout takes the report; name a file\n");
  CHECK(refusal(run + " --lse ''") == "tilewright run: --lse: an empty value; leave the option out, or say what is meant; see tilewright run --help\n");
  CHECK(files() == 0);
  CHECK(ran(fmt::format("{} --out {} --lse {}", run, a, folder / "b.npy")).status == 0);
  CHECK(files() == 2);
}

TEST_CASE("places that cannot be written") {
  CHECK(refusal("compile causal --emit program -o /proc/no/x.txt") == "tilewright compile: cannot write /proc/no/x.txt: No such file or directory\n");
  CHECK(refusal("compile causal --emit program -o /dev/full") == "tilewright compile: cannot write /dev/full: No space left on device\n");
  CHECK(refusal("compile causal --emit program -o /tmp") == "tilewright compile: cannot write /tmp: Is a directory\n");
  for (const char *command : {"list", "--help", "run --help", "--version", "compile causal --head-dim 64 --emit tile"}) {   // the last is longer than stdout's buffer
    Folder folder;
    const int status = std::system(fmt::format("TILEWRIGHT_CACHE=off '{}' {} >/dev/full 2>'{}'", TILEWRIGHT_PROGRAM, command, folder / "err").c_str());
    INFO(command);
    CHECK(WEXITSTATUS(status) == 2);
    CHECK_THAT(folder.read("err"), Catch::EndsWith(": cannot write the output: No space left on device\n"));
  }
}
