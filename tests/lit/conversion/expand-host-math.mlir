// RUN: tilewright opt --expand-host-math --split-input-file %s | FileCheck %s

// CHECK-LABEL: @exp2_f32
// CHECK-NOT:     math.exp2
// CHECK:         arith.cmpf ogt
// CHECK:         arith.cmpf olt
// CHECK:         arith.addf
// CHECK:         arith.shli {{.*}} : vector<8xi32>
// CHECK:         arith.cmpf oeq
// CHECK:         %[[POWER:.*]] = arith.select
// CHECK-COUNT-6: math.fma
// CHECK:         arith.mulf %{{.*}}, %[[POWER]]
func.func @exp2_f32(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp2 %x : vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// The argument's reduction takes three fused operations, the polynomial six.
// CHECK-LABEL: @exp_f32
// CHECK-NOT:     math.exp
// CHECK-COUNT-9: math.fma
// CHECK-NOT:     math.fma
func.func @exp_f32(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// -----

// CHECK-LABEL: @exp_f64
// CHECK:         math.exp %{{.*}} : vector<4xf64>
func.func @exp_f64(%x: vector<4xf64>) -> vector<4xf64> {
  %y = math.exp %x : vector<4xf64>
  return %y : vector<4xf64>
}

// -----

// CHECK-LABEL: @bf16
// CHECK-NOT:     arith.extf
// CHECK-NOT:     arith.truncf
// CHECK:         arith.shli
// CHECK:         return
func.func @bf16(%x: vector<8xbf16>) -> vector<8xbf16> {
  %w = arith.extf %x : vector<8xbf16> to vector<8xf32>
  %s = arith.addf %w, %w : vector<8xf32>
  %y = arith.truncf %s : vector<8xf32> to vector<8xbf16>
  return %y : vector<8xbf16>
}

// -----

// Rounded to odd in f32 first.
// CHECK-LABEL: @f64_to_f16
// CHECK:         arith.truncf %{{.*}} : vector<4xf64> to vector<4xf32>
// CHECK:         arith.cmpf one
// CHECK:         arith.ori
// CHECK:         arith.truncf %{{.*}} : vector<4xf32> to vector<4xf16>
func.func @f64_to_f16(%x: vector<4xf64>) -> vector<4xf16> {
  %y = arith.truncf %x : vector<4xf64> to vector<4xf16>
  return %y : vector<4xf16>
}

// -----

// CHECK-LABEL: @maximum
// CHECK:         arith.maximumf %{{.*}}, %{{.*}} fastmath<nsz>
// CHECK:         vector.reduction <minimumf>, %{{.*}} fastmath<nsz>
func.func @maximum(%x: vector<8xf32>, %y: vector<8xf32>) -> f32 {
  %m = arith.maximumf %x, %y : vector<8xf32>
  %r = vector.reduction <minimumf>, %m : vector<8xf32> into f32
  return %r : f32
}

// -----

// e^x − 1 of the rounded e^x, corrected by its logarithm; nothing is left for the C library, which would subtract.
// CHECK-LABEL: @expm1
// CHECK-NOT:     math.expm1
// CHECK:         %[[U:.*]] = math.exp %{{.*}} : f64
// CHECK:         %[[LESS:.*]] = arith.subf %[[U]], %
// CHECK:         %[[LOG:.*]] = math.log %[[U]] : f64
// CHECK:         %[[RATIO:.*]] = arith.divf %{{.*}}, %[[LOG]]
// CHECK:         arith.mulf %[[LESS]], %[[RATIO]]
func.func @expm1(%x: f64) -> f64 {
  %y = math.expm1 %x : f64
  return %y : f64
}
