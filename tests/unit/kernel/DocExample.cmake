# Cuts the first C++ block out of a page: cmake -DPAGE=runtime.md -DOUT=example.cpp -P DocExample.cmake
file(READ ${PAGE} text)
string(FIND "${text}" "```cpp\n" start)
math(EXPR start "${start} + 7")
string(SUBSTRING "${text}" ${start} -1 text)
string(FIND "${text}" "```" end)
string(SUBSTRING "${text}" 0 ${end} text)
file(WRITE ${OUT} "${text}")
