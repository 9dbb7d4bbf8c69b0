// C = A · B + bias, A [q, k], B [k, n], bias over n; C starts from the bias.
#qk = #tile.axes<"q", "k">
#kn = #tile.axes<"k", "n">
#qn = #tile.axes<"q", "n">
#n = #tile.axes<"n">
!memory = memref<?x?x$T, strided<[?, ?], offset: ?>>
!one = memref<?x$A, strided<[?], offset: ?>>
!result = memref<?x?x$A, strided<[?, ?], offset: ?>>
!sum = tensor<$Qx$Nx$A, #qn>
func.func @kernel(%A: !memory {tile.tensor = "A"}, %B: !memory {tile.tensor = "B"}, %bias: !one {tile.tensor = "bias"}, %C: !result {tile.tensor = "C"},
                  %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, $Q>, <"k", fold, $K>, <"n", inner, $N>]>} {
  %zero = arith.constant 0 : i32
  %width = arith.constant $K : i32
  %b = tile.load %bias[%zero] dims [0] : !one -> tensor<$Nx$A, #n>
  %start = tile.broadcast %b : tensor<$Nx$A, #n> -> !sum
  %c = scf.for %k0 = %zero to %Sk step %width iter_args(%acc = %start) -> (!sum) : i32 {
    %x = tile.load %A[%q0, %k0] dims [0, 1] : !memory -> tensor<$Qx$Kx$T, #qk>
    %y = tile.load %B[%k0, %zero] dims [0, 1] : !memory -> tensor<$Kx$Nx$T, #kn>
    %d = tile.dot %x, %y over "k" : tensor<$Qx$Kx$T, #qk>, tensor<$Kx$Nx$T, #kn> -> !sum
    %next = arith.addf %d, %acc : !sum
    scf.yield %next : !sum
  }
  tile.store %c, %C[%q0, %zero] dims [0, 1] : !sum, !result
  return
}
