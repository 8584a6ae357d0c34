// Carries the precompiled header of test programs without MLIR.
