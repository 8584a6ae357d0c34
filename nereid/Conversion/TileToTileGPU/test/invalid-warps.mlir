// RUN: nereid-opt %s --verify-diagnostics --tile-to-tilegpu="target=toy64 warps=32"

// expected-error @+1 {{a program of 32 warps; expected a power of two up to 16 for toy64}}
func.func @many() attributes {tile.kernel} {
  return
}
