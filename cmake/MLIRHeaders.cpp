// Carries the precompiled header that every MLIR module reuses.
