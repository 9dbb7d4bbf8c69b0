// Sums of rows of V with weights exp(scale · <q, k>), normalised: $CAUSAL (true) keeps k ≤ q + Sk - Sq. The fold is split: tiles
// that no mask touches, then the others.
#q = #tile.axes<"q">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#ke = #tile.axes<"k", "e">
#qk = #tile.axes<"q", "k">
#qe = #tile.axes<"q", "e">
!memory = memref<?x?x?x$T, strided<[?, ?, ?], offset: ?>>
!rows = memref<?x?x$A, strided<[?, ?], offset: ?>>
!row = tensor<$Qx$A, #q>
!score = tensor<$Qx$Kx$A, #qk>
!sum = tensor<$Qx$Ex$A, #qe>
!out = tensor<$Qx$Ex$T, #qe>
func.func @kernel(%Q: !memory {tile.tensor = "Q"}, %K: !memory {tile.tensor = "K"}, %V: !memory {tile.tensor = "V"},
                  %O: !memory {tile.tensor = "O"}, %L: !rows {tile.tensor = "L"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"},
                  %scale: $A {tile.scalar = "scale"}, %h: i32 {tile.item = "h"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"h", free, 1>, <"q", block, $Q>, <"k", fold, $K>, <"d", inner, $D>, <"e", inner, $E>]>} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %width = arith.constant $K : i32
  %height = arith.constant $Q : i32
  %log2e = arith.constant 1.4426950408889634 : $A
  %slope = arith.mulf %scale, %log2e : $A
  %lowest = arith.constant dense<$LOWEST> : !row
  %zeros = arith.constant dense<0.0> : !row
  %none = arith.constant dense<0.0> : !sum
  // shift: how far past its own number a row sees; without $CAUSAL, everything
  %causal = arith.constant $CAUSAL
  %difference = arith.subi %Sk, %Sq : i32
  %shift = arith.select %causal, %difference, %Sk : i32
  %minusShift = arith.subi %zero, %shift : i32
  %minusLast = arith.subi %one, %Sk : i32
  %seen = arith.addi %q0, %shift : i32
  %seenByAll = arith.addi %seen, %one : i32
  %fullEnd0 = arith.minsi %seenByAll, %Sk : i32
  %fullEnd1 = arith.maxsi %fullEnd0, %zero : i32
  %fullTiles = arith.floordivsi %fullEnd1, %width : i32
  %fullEnd = arith.muli %fullTiles, %width : i32
  %seenByAny = arith.addi %seen, %height : i32
  %end = arith.minsi %seenByAny, %Sk : i32
  %x = tile.load %Q[%h, %q0, %zero] dims [-1, 0, 1] : !memory -> tensor<$Qx$Dx$T, #qd>
  %m1, %l1, %acc1 = scf.for %k0 = %zero to %fullEnd step %width iter_args(%m = %lowest, %l = %zeros, %acc = %none) -> (!row, !row, !sum) : i32 {
    %y = tile.load %K[%h, %k0, %zero] dims [-1, 0, 1] : !memory -> tensor<$Kx$Dx$T, #kd>
    %v = tile.load %V[%h, %k0, %zero] dims [-1, 0, 1] : !memory -> tensor<$Kx$Ex$T, #ke>
    %s = tile.dot %x, %y over "d" stage 0 : tensor<$Qx$Dx$T, #qd>, tensor<$Kx$Dx$T, #kd> -> !score
    %slopes = tile.broadcast %slope : $A -> !score
    %t = arith.mulf %s, %slopes : !score
    %r = tile.reduce max %t over "k" : !score -> !row
    %top = arith.maximumf %m, %r : !row
    %some = arith.cmpf ogt, %top, %lowest : !row
    %base = arith.select %some, %top, %zeros : tensor<$Qxi1, #q>, !row
    %bases = tile.broadcast %base : !row -> !score
    %z = arith.subf %t, %bases : !score
    %p = math.exp2 %z : !score
    %fall = arith.subf %m, %base : !row
    %shrink = math.exp2 %fall : !row
    %ps = tile.reduce sum %p over "k" : !score -> !row
    %ls = arith.mulf %l, %shrink : !row
    %ln = arith.addf %ls, %ps : !row
    %d = tile.dot %p, %v over "k" stage 1 : !score, tensor<$Kx$Ex$T, #ke> -> !sum
    %shrinks = tile.broadcast %shrink : !row -> !sum
    %as = arith.mulf %acc, %shrinks : !sum
    %an = arith.addf %as, %d : !sum
    scf.yield %top, %ln, %an : !row, !row, !sum
  } {tile.fold = "k", tile.range = "full"}
  %m2, %l2, %acc2 = scf.for %k0 = %fullEnd to %end step %width iter_args(%m = %m1, %l = %l1, %acc = %acc1) -> (!row, !row, !sum) : i32 {
    %y = tile.load %K[%h, %k0, %zero] dims [-1, 0, 1] : !memory -> tensor<$Kx$Dx$T, #kd>
    %v = tile.load %V[%h, %k0, %zero] dims [-1, 0, 1] : !memory -> tensor<$Kx$Ex$T, #ke>
    %s = tile.dot %x, %y over "d" stage 0 : tensor<$Qx$Dx$T, #qd>, tensor<$Kx$Dx$T, #kd> -> !score
    %slopes = tile.broadcast %slope : $A -> !score
    %u = arith.mulf %s, %slopes : !score
    %t = tile.mask %u at(%q0, %k0) planes [-1, 1, 0, 1] rest(%minusShift, %minusLast) else $LOWEST : $A : !score
    %r = tile.reduce max %t over "k" : !score -> !row
    %top = arith.maximumf %m, %r : !row
    %some = arith.cmpf ogt, %top, %lowest : !row
    %base = arith.select %some, %top, %zeros : tensor<$Qxi1, #q>, !row
    %bases = tile.broadcast %base : !row -> !score
    %z = arith.subf %t, %bases : !score
    %p = math.exp2 %z : !score
    %fall = arith.subf %m, %base : !row
    %shrink = math.exp2 %fall : !row
    %ps = tile.reduce sum %p over "k" : !score -> !row
    %ls = arith.mulf %l, %shrink : !row
    %ln = arith.addf %ls, %ps : !row
    %d = tile.dot %p, %v over "k" stage 1 : !score, tensor<$Kx$Ex$T, #ke> -> !sum
    %shrinks = tile.broadcast %shrink : !row -> !sum
    %as = arith.mulf %acc, %shrinks : !sum
    %an = arith.addf %as, %d : !sum
    scf.yield %top, %ln, %an : !row, !row, !sum
  } {tile.fold = "k", tile.range = "partial"}
  %ones = arith.constant dense<1.0> : !row
  %any = arith.cmpf ogt, %l2, %zeros : !row
  %quotient = arith.divf %ones, %l2 : !row
  %inverse = arith.select %any, %quotient, %zeros : tensor<$Qxi1, #q>, !row
  %inverses = tile.broadcast %inverse : !row -> !sum
  %o = arith.mulf %acc2, %inverses : !sum
  $NARROW
  tile.store %stored, %O[%h, %q0, %zero] dims [-1, 0, 1] : !out, !memory
  %ln2 = arith.constant dense<0.6931471805599453> : !row
  %natural = arith.mulf %m2, %ln2 : !row
  %logs = math.log %l2 : !row
  %lse = arith.addf %natural, %logs : !row
  tile.store %lse, %L[%h, %q0] dims [-1, 0] : !row, !rows
  return
}
