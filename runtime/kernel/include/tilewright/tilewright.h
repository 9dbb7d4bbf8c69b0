// Everything of Tilewright: write a program, build it, launch it.
#pragma once
#include "tilewright/dsl/Dsl.h"
#include "tilewright/kernel/Kernel.h"
