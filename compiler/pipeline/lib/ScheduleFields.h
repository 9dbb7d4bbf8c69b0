// What a GPU asks of a schedule before anything is compiled. Each throws CompileError with the fields, the reason and the cure.
#pragma once
#include "tilewright/dsl/Roles.h"
#include "tilewright/dsl/Schedule.h"

namespace tw {

struct Target;

void requireFields(const Schedule &schedule, const Target &target);
void requireWarpgroups(const Roles &roles, const Schedule &schedule, const Target &target);

}   // namespace tw
