// Carries the precompiled header of libraries and programs without MLIR.
