// rows = Σ_k |<A_q, B_k>|, count = how many are above `limit`, largest = max over k, per row; columns = Σ_q of the last tile's products.
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">
!memory = memref<?x?x$T, strided<[?, ?], offset: ?>>
!one = memref<?x$A, strided<[?], offset: ?>>
!counts = memref<?xi32, strided<[?], offset: ?>>
!row = tensor<$Qx$A, #q>
!score = tensor<$Qx$Kx$A, #qk>
func.func @kernel(%A: !memory {tile.tensor = "A"}, %B: !memory {tile.tensor = "B"}, %rows: !one {tile.tensor = "rows"},
                  %columns: !one {tile.tensor = "columns"}, %counts: !counts {tile.tensor = "counts"}, %table: !one {tile.tensor = "table"},
                  %Sk: i32 {tile.extent = "k"}, %limit: $A {tile.scalar = "limit"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, $Q>, <"k", fold, $K>, <"d", inner, $D>]>} {
  %zero = arith.constant 0 : i32
  %width = arith.constant $K : i32
  %x = tile.load %A[%q0, %zero] dims [0, 1] : !memory -> tensor<$Qx$Dx$T, #qd>
  %none = arith.constant dense<0.0> : !row
  %noCount = arith.constant dense<0> : tensor<$Qxi32, #q>
  %noColumns = arith.constant dense<0.0> : tensor<$Kx$A, #k>
  %total, %count, %last, %steps = scf.for %k0 = %zero to %Sk step %width iter_args(%sum = %none, %n = %noCount, %before = %noColumns, %i = %zero)
      -> (!row, tensor<$Qxi32, #q>, tensor<$Kx$A, #k>, i32) : i32 {
    %y = tile.load %B[%k0, %zero] dims [0, 1] : !memory -> tensor<$Kx$Dx$T, #kd>
    %s = tile.dot %x, %y over "d" : tensor<$Qx$Dx$T, #qd>, tensor<$Kx$Dx$T, #kd> -> !score
    %size = math.absf %s : !score
    %part = tile.reduce sum %size over "k" : !score -> !row
    %next = arith.addf %sum, %part : !row
    %limits = tile.broadcast %limit : $A -> !score
    %above = arith.cmpf ogt, %s, %limits : !score
    %ones = arith.extui %above : tensor<$Qx$Kxi1, #qk> to tensor<$Qx$Kxi32, #qk>
    %counted = tile.reduce sum %ones over "k" : tensor<$Qx$Kxi32, #qk> -> tensor<$Qxi32, #q>
    %nNext = arith.addi %n, %counted : tensor<$Qxi32, #q>
    %column = tile.reduce sum %s over "q" : !score -> tensor<$Kx$A, #k>
    %one = arith.constant 1 : i32
    %iNext = arith.addi %i, %one : i32
    scf.yield %next, %nNext, %column, %iNext : !row, tensor<$Qxi32, #q>, tensor<$Kx$A, #k>, i32
  }
  // rows also get table[row + steps] where that is inside
  %at = arith.addi %q0, %steps : i32
  %places = tile.positions %at : tensor<$Qxi32, #q>
  %extra = tile.gather %table[%places] : !one, (tensor<$Qxi32, #q>) -> !row
  %sums = arith.addf %total, %extra : !row
  tile.store %sums, %rows[%q0] dims [0] : !row, !one
  tile.store %count, %counts[%q0] dims [0] : tensor<$Qxi32, #q>, !counts
  tile.store %last, %columns[%zero] dims [0] : tensor<$Kx$A, #k>, !one
  return
}
