// Carries the precompiled header of test programs with MLIR.
