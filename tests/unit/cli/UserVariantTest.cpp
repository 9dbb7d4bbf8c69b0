// Variants in C++ files: compiled into plug-ins, kept by content, refused with the compiler's or the program's words.
#include "Npy.h"
#include "Ran.h"
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace tw::tests;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
using nlohmann::json;

namespace {

const std::string shape = " --shape 2,4,2,37,70,16";

/// A score step and a mask of its own, with a table by head and query, one by head and block of keys, and whole numbers by key.
const char *nearThirds = R"(#include <tilewright/variant.h>
TILEWRIGHT_VARIANT(near_thirds, attention) {
  const tw::Tensor slopes("slopes", tw::Type::f32, 2), table("table", tw::Type::f32, 2), marks("marks", tw::Type::i32, 1);
  attention.score([=](tw::Tile s, const tw::At &at) { return s - slopes(at.head, at.query) * log(1.0 + abs(at.query - at.key)) + table(at.head, floorDiv(at.key, 32)); });
  attention.mask([=](const tw::At &at) { return (marks(at.key) != 3) & (at.key <= at.query + (at.keys - at.queries)); });
}
)";

struct Written {
  explicit Written(const std::string &text, const std::string &name = "my_variant.cpp") : path(folder / name) { folder.write(name, text); }
  Folder folder;
  std::string path;
};

std::string refusal(const std::string &text, const std::string &more = "") {
  const Written file(text);
  const Ran r = ran("run " + file.path + shape + more);
  if (r.status != 2 || !r.out.empty())
    return fmt::format("status {}: {}{}", r.status, r.out, r.err);
  std::string said = r.err;
  for (std::size_t at; (at = said.find(file.path)) != std::string::npos;)
    said.replace(at, file.path.size(), "my_variant.cpp");
  return said;
}

}   // namespace

TEST_CASE("a variant in a file runs as one of the gallery") {
  const Written file(nearThirds);
  for (const char *how : {" --dtype bf16", " --dtype f64", " --dtype f32 --pass backward"}) {
    INFO(how);
    const Ran r = ran("run " + file.path + shape + how + " --check --json", "TILEWRIGHT_CACHE=" + file.folder / "cache");
    CAPTURE(r.err);
    REQUIRE(r.status == 0);
    const json report = json::parse(r.out);
    CHECK(report["variant"] == file.path);
    for (const auto &[tensor, check] : report["check"].items()) {
      INFO(tensor);
      CHECK(check["right"] == true);
      CHECK(check["tolerance"] < 0.1);   // a mark that is moved, were it by a rounding, is no 3 any more, and every key is kept
    }
    CHECK(report["check"].size() == (std::string(how).find("backward") == std::string::npos ? 2 : 5));
  }
}

TEST_CASE("the tolerance of a variant in a file is small beside its outputs") {
  const Written file(nearThirds);
  const json report = json::parse(ran("run " + file.path + " --shape 1,2,1,20,30,16 --dtype f16 --check --json").out);
  CHECK(report["check"]["O"]["tolerance"] < 0.02);   // outputs are of size 1
  CHECK(report["check"]["lse"]["tolerance"] < 1e-3);
}

TEST_CASE("a variant in a file is drawn and printed") {
  const Written file(nearThirds);
  const std::string cache = "TILEWRIGHT_CACHE=" + file.folder / "cache";
  CHECK_THAT(ran("mask " + file.path + " --shape 1,4,2,128,128,64 --tile 0,1", cache).out,
             Contains("mask (my_variant.cpp:5)") && Contains("mask (my_variant.cpp:5) excludes every element\n"));
  CHECK_THAT(ran("compile " + file.path + " --emit program", cache).out, StartsWith("program \"near_thirds\"\n") && Contains("store lse["));
  CHECK_THAT(ran("compile " + file.path + " --no-lse --emit program", cache).out, !Contains("store lse["));
  CHECK_THAT(ran("compile " + file.path + " --head-dim 64 --target h200 --emit cuda", cache).out, Contains("__global__"));
}

TEST_CASE("a program that is no tw::Attention") {
  const char *text = R"(#include <tilewright/variant.h>
using namespace tw;
TILEWRIGHT_PROGRAM(type) {
  Axis b("b"), h("h"), q("q"), k("k"), d("d"), e("e");
  Tensor Q("Q", type, 4), K("K", type, 4), V("V", type, 4), O("O", type, 4);
  auto [acc] = fold(k, std::tuple{full(0, {b, h, q, e}, type == Type::f64 ? Type::f64 : Type::f32)}, [&](Tile acc) {
    Tile s = dot(Q(b, h, q, d), K(b, h, k, d), over(d));
    return std::tuple{acc + dot(where(k <= q, s, 0.0), V(b, h, k, e), over(k))};
  });
  return {"linear", {store(O, {b, h, q, e}, acc)}};
}
)";
  const Written file(text);
  const Ran r = ran("run " + file.path + " --shape 1,2,2,30,40,16 --dtype f32 --check");
  CHECK(r.err == "");
  CHECK_THAT(r.out, Contains("\nO         right: "));
  CHECK(r.status == 0);
}

TEST_CASE("captures from files go with random Q, K and V") {
  const Written file(nearThirds);
  const std::string three(70 * 4, '\3');   // 0x03030303: not 3, so that every key is kept
  file.folder.write("marks.npy", tw::cli::formatNpy({"i4", {70}, three}));
  const std::string capture = " --capture marks=" + file.folder / "marks.npy";
  CHECK(ran("run " + file.path + shape + capture + " --check").status == 0);
  const auto kept = [&](const std::string &more) {
    return json::parse(ran("mask " + file.path + " --shape 1,4,2,70,70,16 --json" + more).out)["kept_elements"];
  };
  CHECK(kept(capture) == 70 * 71 / 2);
  CHECK(kept("") < 70 * 71 / 2);
}

TEST_CASE("plug-ins are kept by the content of all that they are made of") {
  const Written file("#include \"bias.h\"\n#include <tilewright/variant.h>\nTILEWRIGHT_VARIANT(v, attention) { attention.score([](tw::Tile s, const "
                     "tw::At &) { return s + BIAS; }); }\n");
  file.folder.write("bias.h", "#define BIAS 0.25\n");
  const std::string cache = "TILEWRIGHT_CACHE=" + file.folder / "cache";
  const auto program = [&](const std::string &environment) { return ran("compile " + file.path + " --emit program", environment); };
  CHECK_THAT(program(cache).out, Contains("0.25"));
  // The same again needs no more of the compiler than its version: one that only tells it will do.
  file.folder.write("cxx", "#!/bin/sh\nif [ \"$1\" = --version ]; then exec c++ --version; fi\necho compiled >>\"$0.log\"\nexec c++ \"$@\"\n");
  std::filesystem::permissions(file.folder / "cxx", std::filesystem::perms::owner_all);
  const std::string counting = cache + " CXX=" + file.folder / "cxx";
  for (int i = 0; i < 3; ++i)
    CHECK_THAT(program(counting).out, Contains("0.25"));
  CHECK(file.folder.read("cxx.log") == "compiled\n");
  file.folder.write("bias.h", "#define BIAS 0.75\n");
  CHECK_THAT(program(counting).out, Contains("0.75"));
  CHECK(file.folder.read("cxx.log") == "compiled\ncompiled\n");
  CHECK_THAT(ran("cache list", cache).out, Contains("plug-in") && Contains("my_variant.cpp"));
}

TEST_CASE("what is wrong with a variant in a file") {
  CHECK_THAT(refusal("#include <tilewright/variant.h>\nTILEWRIGHT_VARIANT(v, attention) { attention.mask(tw::casual()); }\n"),
             StartsWith("tilewright run: my_variant.cpp does not compile; 'c++' ended with 1 and said:\n") && Contains("my_variant.cpp:2:") &&
                 Contains("TILEWRIGHT_VARIANT(v, attention) { attention.mask(tw::casual()); }"));
  CHECK(refusal("#include <tilewright/variant.h>\nTILEWRIGHT_VARIANT(v, attention) {\n  attention.score([](tw::Tile s, const tw::At &at) { return s "
                "& at.key; });\n}\n") == "tilewright run: \nmy_variant.cpp:3: error: & needs a condition, got f32[b, h, q, k]; compare it: x != 0\n"
                                         "  |   attention.score([](tw::Tile s, const tw::At &at) { return s & at.key; });\n"
                                         "my_variant.cpp:2: note: the value is made here\n  | TILEWRIGHT_VARIANT(v, attention) {\n\n");
  CHECK(refusal("#include <tilewright/variant.h>\n#include <stdexcept>\nTILEWRIGHT_VARIANT(v, attention) {\n  throw std::runtime_error(\"no table at hand\");\n}\n") ==
        "tilewright run: \nmy_variant.cpp:3: error: an exception left the variant: no table at hand\n  | TILEWRIGHT_VARIANT(v, attention) {\n\n");
  CHECK(refusal("int nothing;\n") == "tilewright run: my_variant.cpp exports no variant; include <tilewright/variant.h> and write "
                                     "TILEWRIGHT_VARIANT(name, attention) { … } or TILEWRIGHT_PROGRAM(type) { … }\n");
  CHECK(refusal("extern \"C\" const char *tilewright_variant(const char *, int) { return \"// tilewright 0.0.9\\nprogram\"; }\n") ==
        "tilewright run: my_variant.cpp was linked with another version of Tilewright ('// tilewright 0.0.9') than this program's, 0.1.0; use "
        "headers, library and program of one installation\n");
  CHECK(refusal(nearThirds, " --cxx no-such-compiler") ==
        "tilewright run: a variant in a file is compiled with a C++ compiler of this machine, and 'no-such-compiler' cannot be started; install one "
        "(Debian: apt-get install g++), or name one: --cxx COMMAND, "
        "or the environment variable CXX\n");
  CHECK(ran("run no_such_file.cpp" + shape).err == "tilewright run: no_such_file.cpp cannot be read: there is no such file; name a C++ file that is there, or a variant of `tilewright list`\n");
  CHECK(refusal("#include <tilewright/variant.h>\nTILEWRIGHT_PROGRAM(type) {\n  tw::Axis q(\"q\"), d(\"d\");\n  tw::Tensor Q(\"Q\", type, 2), "
                "O(\"O\", type, 1);\n"
                "  return {\"rows\", {store(O, {q}, sum(Q(q, d), over(d)))}};\n}\n") ==
        "tilewright run: my_variant.cpp: the program has no tensor 'Q' of 4 dimensions; the command line runs programs that read Q [B,H,Sq,D], K "
        "[B,Hkv,Skv,D] and V [B,Hkv,Skv,Dv] and store O [B,H,Sq,Dv]; "
        "others are built and launched in C++ or C\n");
  CHECK(refusal("#include <tilewright/variant.h>\nTILEWRIGHT_VARIANT(v, attention) {\n  const tw::Tensor page(\"page\", tw::Type::i32, 1), "
                "bias(\"bias\", tw::Type::f32, 1);\n"
                "  attention.score([=](tw::Tile s, const tw::At &at) { return s + bias(page(at.key)); });\n}\n") ==
        "tilewright run: how long tensor 'bias' is along dimension 0 cannot be told from --shape; give it: --capture bias=FILE.npy\n");
}

TEST_CASE("a mask that ignores the keys is warned of, and an index that leaves its tensor is refused, at the user's line") {
  const Written file("#include <tilewright/variant.h>\nTILEWRIGHT_VARIANT(v, attention) {\n  const tw::Tensor bias(\"bias\", tw::Type::f32, 1);\n"
                     "  attention.score([=](tw::Tile s, const tw::At &at) { return s + bias(at.key + 5); });\n  attention.mask([](const tw::At &at) "
                     "{ return at.query % 2 == 0; });\n}\n");
  file.folder.write("bias.npy", tw::cli::formatNpy({"f4", {10}, std::string(40, '\0')}));
  const Ran r = ran("run " + file.path + " --shape 1,1,1,10,10,16 --capture bias=" + file.folder / "bias.npy");
  CHECK(r.status == 2);
  CHECK(r.err == "my_variant.cpp:5: warning: this mask ignores 'k', the axis that the fold walks: its condition runs along [q] alone, so that for "
                 "all k from 0 to extent(k) - 1 it is one and the same, and keeps "
                 "a row or empties it; compare 'k' too, or leave it if rows are meant\n  |   attention.mask([](const tw::At &at) { return at.query % "
                 "2 == 0; });\n"
                 "tilewright run: tensor 'bias' is 10 long along dimension 0 and is read there at k + 5 (my_variant.cpp:4), which goes from 5 to 14; "
                 "give it at least 15 or shorten what it is indexed by\n");
}

TEST_CASE("run --checked names an index that leaves its tensor, wherever the variant is to run") {
  const Written file("#include <tilewright/variant.h>\nTILEWRIGHT_VARIANT(v, attention) {\n  const tw::Tensor bias(\"bias\", tw::Type::f32, 1), "
                     "row(\"row\", tw::Type::i32, 2), part(\"part\", tw::Type::i32, 1);\n"
                     "  attention.score([=](tw::Tile s, const tw::At &at) { return s + bias(row(at.batch, at.key)) + bias(part(0)); });\n}\n");
  const std::string cache = "TILEWRIGHT_CACHE=" + file.folder / "cache";
  auto save = [&](const char *name, std::vector<std::int64_t> shape, std::vector<std::int32_t> values) {
    file.folder.write(name, tw::cli::formatNpy({"i4", std::move(shape), std::string(reinterpret_cast<const char *>(values.data()), values.size() * 4)}));
  };
  file.folder.write("bias.npy", tw::cli::formatNpy({"f4", {5}, std::string(20, '\0')}));
  save("inside.npy", {2, 8}, {0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 2, 3, 4, 0, 1, 2});
  save("outside.npy", {2, 8}, {0, 1, 2, 3, 4, 0, 1, 2, 0, 1, -1, 3, 5, 0, 1, 2});
  save("first.npy", {1}, {4});
  save("past.npy", {1}, {5});
  const std::string run = fmt::format("run {} --shape 2,1,1,3,8,8 --capture bias={} --checked", file.path, file.folder / "bias.npy");
  auto said = [&](const char *row, const char *part, const std::string &more) {
    const Ran r = ran(fmt::format("{} --capture row={} --capture part={} {}", run, file.folder / row, file.folder / part, more), cache);
    return r.status == 2 && r.out.empty() ? r.err : fmt::format("status {}: {}", r.status, r.err);
  };
  for (const char *on : {"--on cpu", "--on evaluate", "--on simulator", "--on gpu", "--on cpu --pass backward"}) {
    INFO(on);
    CHECK(said("outside.npy", "first.npy", on) ==
          "tilewright run: tensor 'bias' is 5 long along dimension 0 and is read there at -1 for b = 1, k = 2 (my_variant.cpp:4), and outside at 2 of 16 places; "
          "give a longer tensor, or guard the read: where((i >= 0) & (i < bias.dimension(0)), …, 0)\n");
  }
  CHECK(said("inside.npy", "past.npy", "") == "tilewright run: tensor 'bias' is 5 long along dimension 0 and is read there at 5 (my_variant.cpp:4); "
                                             "give a longer tensor, or guard the read: where((i >= 0) & (i < bias.dimension(0)), …, 0)\n");
  CHECK(said("inside.npy", "first.npy", "--check") == "status 0: ");
  CHECK(said("inside.npy", "first.npy", "--on simulator --dtype bf16 --check") == "status 0: ");
}
