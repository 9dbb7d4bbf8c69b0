// A variant in a file of its own: `tilewright run my_variant.cpp`.
#pragma once
#include "tilewright/dsl/Variant.h"
