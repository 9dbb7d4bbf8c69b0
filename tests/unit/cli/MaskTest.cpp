// `tilewright mask`: pictures, counts, and why a tile is what it is.
#include "MaskDrawing.h"
#include "MaskElements.h"
#include "Npy.h"
#include "Output.h"
#include "Ran.h"
#include "tilewright/dsl/Dsl.h"
#include <catch2/catch.hpp>
#include <regex>

using namespace tw;
using namespace tw::tests;
using namespace tw::cli;

namespace {
const std::string window = "mask 'window(100,20)' --shape 1,1,1,512,512,64 --schedule 'block=q d=64 e=64 k=64 q=64'";

MaskPicture small() {
  MaskPicture picture{4, 5, 2, 2, {{TileClass::full, TileClass::partial, TileClass::empty}, {TileClass::empty, TileClass::full, TileClass::partial}}, {}};
  for (int i = 0; i < 20; ++i)
    picture.kept.push_back(i % 3 != 0);
  return picture;
}
} // namespace

TEST_CASE("a mask in letters, a tile a letter") {
  CHECK(drawText(small()) == "#/.\n.#/\n");
  CHECK(ran(window + " -o -").out == "//......\n///.....\n////....\n.////...\n..////..\n...////.\n....////\n.....///\n");
}

TEST_CASE("a mask as PNG and SVG") {
  const std::string png = drawPng(small());
  CHECK(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  CHECK(png.substr(12, 4) == "IHDR");
  CHECK(png.substr(16, 8) == std::string("\0\0\0\5\0\0\0\4", 8));        // width, height
  CHECK(png.substr(png.size() - 8, 4) == "IEND");
  const std::string svg = drawSvg(small());
  CHECK(svg.find("viewBox=\"0 0 5 4\"") != svg.npos);
  CHECK(svg.find("<rect x=\"0\" y=\"0\" width=\"2\" height=\"1\" fill=\"#1e5aa0\"/>") != svg.npos);   // both elements of a full tile's row
  Folder folder;
  CHECK(ran(window + " -o " + folder / "w.png").status == 0);
  CHECK(folder.read("w.png").substr(1, 3) == "PNG");
  const Ran wrong = ran(window + " -o " + folder / "w.gif");
  CHECK(wrong.status == 2);
  CHECK(std::regex_match(wrong.err, std::regex("tilewright mask: -o .*w\\.gif: pictures are made as \\.png, \\.svg and \\.txt\n")));
}

TEST_CASE("a mask's counts and lines") {
  const std::string out = ran(window).out;
  CHECK(out.find("window(100,20) for host: 512 × 512 elements in tiles of 64 × 64, item (0,0)\n") == 0);
  CHECK(std::regex_search(out, std::regex("mask      slidingWindow \\(\\w+\\.cpp:\\d+\\)\n")));
  CHECK(out.find("elements  56692 kept, 21.6%\ntiles     36 empty (skipped), 28 partial (with the mask), 0 full (without it); 56.2% skipped\n") != out.npos);
  CHECK_THAT(ran("mask plain --shape 1,1,1,100,130,64").out, Catch::Contains("\nmask      the end of the axis\n"));
  CHECK(ran("mask plain --shape 1,1,1,100,128,64 --schedule 'block=q d=64 e=64 k=64 q=64'").out.find("elements  12800 kept, 100.0%\ntiles     0 empty (skipped), 0 partial (with the mask), 4 full (without it); 0.0% skipped") != std::string::npos);
}

TEST_CASE("a mask's time is predicted for GPUs, from the tiles that are visited") {
  CHECK(ran(window).out.find("time      not predicted: the cost model is of GPUs; take one by --target h200\n") != std::string::npos);
  const std::string shape = " --shape 1,16,16,16384,16384,128 --target h200";
  CHECK(std::regex_search(ran("mask causal" + shape).out, std::regex("time      [0-9.]+ (µs|ms) predicted, bound by [A-Za-z ]+, were all items of the launch like this one\n")));
  auto secondsOf = [&](const std::string &variant, const std::string &more) { return Json::parse(ran("mask " + variant + shape + more + " --json").out).at("predicted_seconds").get<double>(); };
  // Ranges tell of a window what it leaves; of documents the table does, and explain, which reads none, takes all to be left.
  const double dense = secondsOf("plain", ""), window = secondsOf("'window(1023,0)'", "");
  const Json explained = Json::parse(ran("explain 'window(1023,0)'" + shape + " --json").out);
  CHECK(window == Approx(explained.at("programs").at(0).at("estimate").at("seconds").get<double>()).epsilon(0.02));
  CHECK(window < 0.15 * dense);
  const Folder folder;
  NpyArray documents{"i4", {1, 16384}, std::string(4 * 16384, '\0')};
  for (int i = 0; i < 16384; ++i)
    documents.data[std::size_t(4 * i)] = char(i / 2048);
  folder.write("documents.npy", formatNpy(documents));
  const std::string tables = " --capture query_documents=" + folder / "documents.npy" + " --capture key_documents=" + folder / "documents.npy";
  CHECK(secondsOf("documents", tables) == Approx(dense / 8).epsilon(0.25));
}

TEST_CASE("why a tile is empty, partial or full") {
  auto why = [](const std::string &tile) { return ran(window + " --tile " + tile).out; };
  CHECK(std::regex_search(why("0,5"), std::regex("tile      \\(0, 5\\), from row 0, column 320: empty, 0 elements kept\n +slidingWindow \\(\\w+\\.cpp:\\d+\\) excludes every element\n")));
  CHECK(std::regex_search(why("1,0"), std::regex("tile      \\(1, 0\\), from row 64, column 0: partial, 3718 elements kept\n +slidingWindow \\(\\w+\\.cpp:\\d+\\) excludes some elements, or ranges of what it compares do not tell\n")));
  const std::string nothing = "mask causal --shape 1,1,1,5,0,64";
  CHECK_THAT(ran(nothing).out, Catch::Contains("\nelements  0 kept, 0.0%\n"));
  CHECK(ran(nothing + " --tile 0,0").err == "tilewright mask: --tile 0,0: there are no tiles in 5 × 0 elements; leave it out, or give --shape longer axes\n");
  const Ran wrong = ran(window + " --tile 8,0");
  CHECK(wrong.status == 2);
  CHECK(wrong.err == "tilewright mask: --tile 8,0: expected i,j with i from 0 to 7 and j from 0 to 7\n");
  CHECK(ran(window + " --item 1,0").err == "tilewright mask: --item 1,0: expected b,h with b from 0 to 0 and h from 0 to 0\n");
}

TEST_CASE("the elements that masks keep are those of their conditions together") {
  Tensor Q("Q", Type::f32, 4), K("K", Type::f32, 4), V("V", Type::f32, 4), O("O", Type::f32, 4), doc("doc", Type::i32, 2);
  Attention attention("documents", Q, K, V, O);
  attention.mask([&](const At &at) { return doc(at.batch, at.query) == doc(at.batch, at.key); }).mask(causalTopLeft());
  const Roles roles = rolesOf(attention.program());
  const auto condition = keptBy(roles);
  REQUIRE(condition);
  Evaluation inputs{{{"doc", {{2, 4}, {0, 0, 1, 1, 5, 5, 5, 6}}}}, {}, {{"b", 2}, {"h", 1}, {"q", 4}, {"k", 4}, {"d", 8}, {"e", 8}}};
  CHECK(keptElements(*condition, roles, inputs, {{"b", 1}, {"h", 0}}) == std::vector<bool>{1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1});
  CHECK(keptElements(*condition, roles, inputs, {{"b", 0}, {"h", 0}}) == std::vector<bool>{1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1});
}
