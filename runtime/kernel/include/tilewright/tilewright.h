// Everything of Tilewright: write a program, build it, launch it. In C: build by name or text, launch.
#pragma once
#include "tilewright/kernel/C.h"
#ifdef __cplusplus
#include "tilewright/dsl/Dsl.h"
#include "tilewright/kernel/GradientKernels.h"
#include "tilewright/kernel/Kernel.h"
#include "tilewright/kernel/Machine.h"
#include "tilewright/kernel/Tune.h"
#endif
