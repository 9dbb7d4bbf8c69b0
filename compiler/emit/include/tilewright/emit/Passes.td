// The pass that shows what a device kernel prints as.
#ifndef TILEWRIGHT_EMIT_PASSES
#define TILEWRIGHT_EMIT_PASSES
include "mlir/Pass/PassBase.td"

def EmitCuda : Pass<"emit-cuda", "::mlir::ModuleOp"> {
  let summary = "print every device kernel as CUDA C++ to the standard output";
  let description = [{
    The module stays as it is. What an operation prints as is in docs/DeviceDialect.md.
  }];
  let options = [
    Option<"facts", "facts", "bool", "false", "print the launch facts, as comments, before the text">,
    Option<"whole", "whole", "bool", "false", "print the templates and the instructions in use too: what the assembler gets">];
  let dependentDialects = ["::tw::device::DeviceDialect"];
}

#endif
