# The text of all tables as one array of bytes: -DTABLES=<files> -DOUT=<file>.
set(bytes "")
foreach(table IN LISTS TABLES)
  file(READ ${table} hex HEX)
  string(APPEND bytes ${hex})
endforeach()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "// From runtime/tune/tables by EmbedTables.cmake.\n#include \"ShippedText.h\"\nnamespace tw::tuning {\nconst unsigned char shippedBytes[] = {${bytes}0};\nconst unsigned long shippedSize = sizeof(shippedBytes) - 1;\n} // namespace tw::tuning\n")
