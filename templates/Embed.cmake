# cmake -DROOT=… -DFILES=a,b -DOUT=… -P: writes a C++ file that holds the texts of these files of ROOT, and a digest of them all.
string(REPLACE "," ";" files "${FILES}")
set(entries "")
set(all "")
foreach(name IN LISTS files)
  file(READ ${ROOT}/${name} text)
  file(SHA256 ${ROOT}/${name} digest)
  string(APPEND all "${name} ${digest}\n")
  string(APPEND entries "    {\"${name}\", R\"tilewright(${text})tilewright\"},\n")
endforeach()
string(SHA256 digest "${all}")
file(WRITE ${OUT} "// Made by Embed.cmake.
#include \"Embedded.h\"

namespace tw {

const std::vector<EmbeddedText> &embeddedTexts() {
  static const std::vector<EmbeddedText> texts{
${entries}  };
  return texts;
}

std::string_view templatesDigest() { return \"${digest}\"; }

} // namespace tw
")
