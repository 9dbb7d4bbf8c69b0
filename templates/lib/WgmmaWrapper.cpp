// Writes the wgmma instructions that a kernel uses: there are hundreds of shapes, and each is a text of its own.
#include "tilewright/templates/Templates.h"
#include <regex>
#include <set>
#include <stdexcept>

namespace tw {
namespace {

/// "%first,%first+1,…", `count` operands.
std::string operands(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i)
    text += (i == first ? "%" : ",%") + std::to_string(i);
  return text;
}

std::string name(const WgmmaShape &shape) {
  return std::string(shape.registersA ? "wgmma_rs<" : "wgmma_ss<") + shape.element + ", " + std::to_string(shape.n) + ", " +
         (shape.registersA   ? ""
          : shape.transposeA ? "1, "
                             : "0, ") +
         (shape.transposeB ? "1>" : "0>");
}

void check(const WgmmaShape &shape) {
  if (shape.element != "BF16" && shape.element != "F16")
    throw std::invalid_argument(name(shape) + ": elements are BF16 or F16, not " + shape.element);
  if (shape.n < 8 || shape.n > 256 || shape.n % 8)
    throw std::invalid_argument(name(shape) + ": n is " + std::to_string(shape.n) + "; it must be a multiple of 8 from 8 to 256");
  if (shape.registersA && shape.transposeA)
    throw std::invalid_argument(name(shape) + ": a in registers cannot be transposed");
}

}   // namespace

std::string wgmmaWrapper(const WgmmaShape &shape) {
  check(shape);
  const int count = shape.n / 2, afterA = count + (shape.registersA ? 4 : 1);
  const std::string element = shape.element == "BF16" ? "bf16" : "f16";
  const std::string a = shape.registersA ? "{" + operands(count, 4) + "}" : operands(count, 1);
  std::string text = "template <> DEV void " + name(shape) + "(float (&d)[" + std::to_string(count) + "], " +
                     (shape.registersA ? "const u32& a0, const u32& a1, const u32& a2, const u32& a3" : "u64 a") + ", u64 b, int acc) {\n" +
                     "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %" + std::to_string(afterA + 1) + ", 0;\\n" +
                     "wgmma.mma_async.sync.aligned.m64n" + std::to_string(shape.n) + "k16.f32." + element + "." + element + " {" +
                     operands(0, count) + "}, " + a + ", %" + std::to_string(afterA) + ", p, 1, 1" +
                     (shape.registersA   ? ""
                      : shape.transposeA ? ", 1"
                                         : ", 0") +
                     (shape.transposeB ? ", 1" : ", 0") + ";\\n}\"\n    : ";
  for (int i = 0; i < count; ++i)
    text += std::string(i ? ", " : "") + "\"+f\"(d[" + std::to_string(i) + "])";
  return text + "\n    : " + (shape.registersA ? "\"r\"(a0), \"r\"(a1), \"r\"(a2), \"r\"(a3)" : "\"l\"(a)") + ", \"l\"(b), \"r\"(acc));\n}\n";
}

std::vector<WgmmaShape> wgmmaShapes(std::string_view kernel) {
  static const std::regex use(R"(wgmma_(ss|rs)\s*<\s*(\w+)\s*,\s*(\d+)\s*(?:,\s*([01])\s*)?(?:,\s*([01])\s*)?>)");
  std::set<WgmmaShape> shapes;
  const std::string text(kernel);
  for (std::sregex_iterator match(text.begin(), text.end(), use), end; match != end; ++match) {
    auto flag = [&](int group) { return (*match)[group].matched && (*match)[group] == "1"; };
    WgmmaShape shape{(*match)[1] == "rs", (*match)[2], std::stoi((*match)[3])};
    shape.transposeA = !shape.registersA && flag(4);
    shape.transposeB = flag(shape.registersA ? 4 : 5);
    shapes.insert(shape);
  }
  return {shapes.begin(), shapes.end()};
}

std::string deviceSource(Instructions instructions, std::string_view kernel, std::string_view file) {
  std::string text = deviceTemplates(instructions);
  for (auto [file, use] : {std::pair("common/extremes.cuh", "row_extremes"), std::pair("common/lists.cuh", "_among(")})   // few kernels use these
    if (const std::string_view part = templateText(file); kernel.find(use) == std::string_view::npos)
      text.erase(text.find(part), part.size());
  for (auto &shape : wgmmaShapes(kernel))
    text += wgmmaWrapper(shape);
  return text + "#line 1 \"" + std::string(file) + "\"\n" + std::string(kernel);
}

}   // namespace tw
