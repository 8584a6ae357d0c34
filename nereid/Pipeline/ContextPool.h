//===- ContextPool.h - MLIR contexts, kept warm -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Making a context and loading its dialects takes time, so they are kept. A
// context serves one compilation at a time; types and locations stay in it, so
// it is dropped after a number of uses to bound the memory of a long process.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_CONTEXTPOOL_H
#define NEREID_PIPELINE_CONTEXTPOOL_H

#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <mutex>
#include <vector>

namespace nereid {

/// Thread-safe. Contexts that are lent must come back before it dies.
class ContextPool {
public:
  /// That of all compilers of the process: no compilation leaves anything in a
  /// context that another one could see.
  static ContextPool &shared();

  struct Entry {
    std::unique_ptr<mlir::MLIRContext> context;
    unsigned uses = 0;
  };

  /// Returns its context to the pool when it dies.
  class Lease {
  public:
    Lease(ContextPool &pool, Entry entry)
        : pool(&pool), entry(std::move(entry)) {}
    Lease(Lease &&) = default;
    ~Lease() {
      if (entry.context) {
        pool->giveBack(std::move(entry));
      }
    }
    mlir::MLIRContext &operator*() const { return *entry.context; }

  private:
    ContextPool *pool;
    Entry entry;
  };

  Lease take();

private:
  void giveBack(Entry entry);

  std::mutex mutex;
  std::vector<Entry> idle;
};

/// A context with every dialect of the CPU path loaded, single-threaded.
std::unique_ptr<mlir::MLIRContext> makeCompilerContext();

} // namespace nereid

#endif // NEREID_PIPELINE_CONTEXTPOOL_H
