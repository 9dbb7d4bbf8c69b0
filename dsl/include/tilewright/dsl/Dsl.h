// Everything a program is written with.
#pragma once
#include "tilewright/dsl/Attention.h"
#include "tilewright/dsl/Evaluate.h"
#include "tilewright/dsl/Fold.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/dsl/Gradient.h"
#include "tilewright/dsl/Inspect.h"
#include "tilewright/dsl/Modifiers.h"
#include "tilewright/dsl/Normalizers.h"
#include "tilewright/dsl/Program.h"
#include "tilewright/dsl/Schedule.h"
#include "tilewright/dsl/Tensor.h"
#include "tilewright/dsl/Tile.h"
