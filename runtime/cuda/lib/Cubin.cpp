// A cubin is an ELF file; what a kernel takes stands in records of its sections .nv.info and .nv.info.<kernel>.
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cuda/Resources.h"
#include <cstring>
#include <elf.h>
#include <fmt/format.h>

namespace tw::cuda {
namespace {

// Attributes of .nv.info records, by number.
enum : unsigned { maxThreads = 0x05, frameSize = 0x11, parameter = 0x17, registerCount = 0x2f };
constexpr unsigned sizedValue = 4;   // the format of a record whose value has a length of its own

/// A byte string in which every read is checked.
class File {
public:
  File(std::string_view bytes, const std::string &entry) : bytes(bytes), entry(entry) {
    header = at<Elf64_Ehdr>(0);
    constexpr unsigned cudaMachine = 190;
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != cudaMachine)
      fail("is no cubin");
    names = section(header.e_shstrndx);
  }

  [[noreturn]] void fail(const char *what) const { throw RuntimeError(fmt::format("the machine code of kernel '{}' {}; clear the cache", entry, what)); }

  template <class T> T at(std::size_t offset) const {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
      fail("is cut short");
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }

  std::string_view text(const Elf64_Shdr &table, std::size_t offset) const {
    std::string_view all = contents(table);
    if (offset >= all.size())
      fail("is cut short");
    all.remove_prefix(offset);
    return all.substr(0, all.find('\0'));
  }

  std::string_view contents(const Elf64_Shdr &section) const {
    if (section.sh_type == SHT_NOBITS)
      return {};
    if (section.sh_offset > bytes.size() || bytes.size() - section.sh_offset < section.sh_size)
      fail("is cut short");
    return bytes.substr(section.sh_offset, section.sh_size);
  }

  Elf64_Shdr section(unsigned index) const { return at<Elf64_Shdr>(header.e_shoff + std::size_t(index) * sizeof(Elf64_Shdr)); }
  std::string_view name(const Elf64_Shdr &section) const { return text(names, section.sh_name); }

  template <class Visit> void eachSection(Visit visit) const {
    for (unsigned i = 0; i < header.e_shnum; ++i)
      visit(section(i));
  }

private:
  std::string_view bytes;
  const std::string &entry;
  Elf64_Ehdr header{};
  Elf64_Shdr names{};
};

/// Calls visit(attribute, the first words of its value) for each record whose value has a length.
template <class Visit> void eachRecord(std::string_view records, Visit visit) {
  auto byte = [&](std::size_t i) { return unsigned(static_cast<unsigned char>(records[i])); };
  for (std::size_t at = 0; at + 4 <= records.size();) {
    const unsigned format = byte(at), attribute = byte(at + 1), length = byte(at + 2) | byte(at + 3) << 8;
    at += 4;
    if (format != sizedValue)
      continue;
    if (records.size() - at < length)
      return;
    std::uint32_t words[3] = {};
    std::memcpy(words, records.data() + at, std::min<std::size_t>(length, sizeof words));
    at += length;
    visit(attribute, words);
  }
}

} // namespace

CubinFacts readCubin(std::string_view cubin, const std::string &entry) {
  const File file(cubin, entry);
  CubinFacts facts;
  std::uint32_t symbol = 0;   // index of the kernel among the symbols
  file.eachSection([&](const Elf64_Shdr &section) {
    if (section.sh_type != SHT_SYMTAB)
      return;
    const Elf64_Shdr strings = file.section(section.sh_link);
    for (std::uint32_t i = 0; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto each = file.at<Elf64_Sym>(section.sh_offset + i * sizeof(Elf64_Sym));
      if (ELF64_ST_TYPE(each.st_info) == STT_FUNC && file.text(strings, each.st_name) == entry)
        symbol = i;
    }
  });
  if (symbol == 0)
    file.fail("holds no such kernel");
  file.eachSection([&](const Elf64_Shdr &section) {
    const std::string_view name = file.name(section);
    if (name == ".nv.info")
      eachRecord(file.contents(section), [&](unsigned attribute, const std::uint32_t (&words)[3]) {
        if (words[0] != symbol)
          return;
        if (attribute == registerCount)
          facts.registers = int(words[1]);
        if (attribute == frameSize)
          facts.stackBytes = int(words[1]);
      });
    else if (name == ".nv.info." + entry)
      eachRecord(file.contents(section), [&](unsigned attribute, const std::uint32_t (&words)[3]) {
        if (attribute == maxThreads)
          facts.threads = int(words[0]);
        if (attribute == parameter)   // index, ordinal and offset, size in the upper bits
          facts.parameterBytes += int(words[2] >> 18);
      });
    else if (name == ".nv.shared." + entry)
      facts.staticSharedBytes = int(section.sh_size);
  });
  // From 9.0 on the section counts what the system reserves in each block, too.
  constexpr int reserved = 1024;
  if (facts.staticSharedBytes >= reserved)
    facts.staticSharedBytes -= reserved;
  return facts;
}

} // namespace tw::cuda
