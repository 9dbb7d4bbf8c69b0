// Everything that is neither a dot's neighbour nor a plain sum: a bias tile, a slope by distance, tanh, a table of groups,
// a transposed value, carried values that change places, a carried scalar, integer division, two dots of one tile.
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">
#kq = #tile.axes<"k", "q">
!memory = memref<?x?x$T, strided<[?, ?], offset: ?>>
!flags = memref<?xi8, strided<[?], offset: ?>>
!result = memref<?x?x$A, strided<[?, ?], offset: ?>>
!row = tensor<$Qx$A, #q>
!score = tensor<$Qx$Kx$A, #qk>
!sum = tensor<$Qx$Dx$A, #qd>
func.func @kernel(%X: !memory {tile.tensor = "X"}, %Y: !memory {tile.tensor = "Y"}, %bias: !memory {tile.tensor = "bias"},
                  %flags: !flags {tile.tensor = "flags"}, %O: !result {tile.tensor = "O"}, %W: !result {tile.tensor = "W"},
                  %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, $Q>, <"k", fold, $K>, <"d", inner, $D>]>} {
  %zero = arith.constant 0 : i32
  %width = arith.constant $K : i32
  %one = arith.constant 1.0 : $A
  %x = tile.load %X[%q0, %zero] dims [0, 1] : !memory -> tensor<$Qx$Dx$T, #qd>
  %none = arith.constant dense<0.0> : !sum
  %zeros = arith.constant dense<0.0> : !row
  %tens = arith.constant dense<10.0> : !row
  %p = tile.positions %q0 : tensor<$Qxi32, #q>
  %ps = tile.broadcast %p : tensor<$Qxi32, #q> -> tensor<$Qx$Kxi32, #qk>
  %oneInteger = arith.constant 1 : i32
  %last = arith.subi %oneInteger, %Sk : i32
  %seven = arith.constant dense<7> : tensor<$Qx$Kxi32, #qk>
  %total, %a, %b, %scale = scf.for %k0 = %zero to %Sk step %width iter_args(%acc = %none, %u = %zeros, %v = %tens, %c = %one) -> (!sum, !row, !row, $A) : i32 {
    %y = tile.load %Y[%k0, %zero] dims [0, 1] : !memory -> tensor<$Kx$Dx$T, #kd>
    %s = tile.dot %x, %y over "d" : tensor<$Qx$Dx$T, #qd>, tensor<$Kx$Dx$T, #kd> -> !score
    %n = tile.load %bias[%q0, %k0] dims [0, 1] : !memory -> tensor<$Qx$Kx$T, #qk>
    $WIDEN
    %t0 = arith.addf %s, %nw : !score
    %t1 = math.tanh %t0 : !score
    // flag k: where it is 0, or where q / 7 and k / 7 are equal, the value counts
    %f = tile.load %flags[%k0] dims [0] : !flags -> tensor<$Kxi8, #k>
    %noFlag = arith.constant dense<0> : tensor<$Kxi8, #k>
    %free = arith.cmpi eq, %f, %noFlag : tensor<$Kxi8, #k>
    %frees = tile.broadcast %free : tensor<$Kxi1, #k> -> tensor<$Qx$Kxi1, #qk>
    %r = tile.positions %k0 : tensor<$Kxi32, #k>
    %rs = tile.broadcast %r : tensor<$Kxi32, #k> -> tensor<$Qx$Kxi32, #qk>
    %qg = arith.floordivsi %ps, %seven : tensor<$Qx$Kxi32, #qk>
    %kg = arith.floordivsi %rs, %seven : tensor<$Qx$Kxi32, #qk>
    %same = arith.cmpi eq, %qg, %kg : tensor<$Qx$Kxi32, #qk>
    %counts = arith.ori %frees, %same : tensor<$Qx$Kxi1, #qk>
    %none2 = arith.constant dense<0.0> : !score
    %t2 = arith.select %counts, %t1, %none2 : tensor<$Qx$Kxi1, #qk>, !score
    // turned there and back, through a product with itself turned
    %turned = tile.broadcast %t2 : !score -> tensor<$Kx$Qx$A, #kq>
    %twice = arith.mulf %turned, %turned : tensor<$Kx$Qx$A, #kq>
    %squares = tile.broadcast %twice : tensor<$Kx$Qx$A, #kq> -> !score
    %most = tile.reduce max %twice over "q" : tensor<$Kx$Qx$A, #kq> -> tensor<$Kx$A, #k>
    %mosts = tile.broadcast %most : tensor<$Kx$A, #k> -> !score
    %t3 = arith.addf %t2, %squares : !score
    %t4 = arith.addf %t3, %mosts : !score
    %inside = tile.mask %t4 at(%q0, %k0) planes [0, 1] rest(%last) else 0.0 : $A : !score
    %d1 = tile.dot %inside, %y over "k" : !score, tensor<$Kx$Dx$T, #kd> -> !sum
    %scales = tile.broadcast %c : $A -> !sum
    %d2 = arith.mulf %d1, %scales : !sum
    %next = arith.addf %acc, %d2 : !sum
    %part = tile.reduce sum %inside over "k" : !score -> !row
    %un = arith.addf %u, %part : !row
    %half = arith.constant 0.5 : $A
    %cn = arith.mulf %c, %half : $A
    scf.yield %next, %v, %un, %cn : !sum, !row, !row, $A
  }
  %column = arith.subf %a, %b : !row
  %columns = tile.broadcast %column : !row -> !sum
  %scaleAll = tile.broadcast %scale : $A -> !sum
  %o1 = arith.addf %total, %columns : !sum
  %o = arith.mulf %o1, %scaleAll : !sum
  tile.store %o, %O[%q0, %zero] dims [0, 1] : !sum, !result
  %turnedOut = tile.broadcast %o : !sum -> tensor<$Dx$Qx$A, #tile.axes<"d", "q">>
  tile.store %turnedOut, %W[%zero, %q0] dims [0, 1] : tensor<$Dx$Qx$A, #tile.axes<"d", "q">>, !result
  return
}
