//===- GlooContext.h - Gloo's connections of a run --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each process listens at the address by which it has met process 0, once for
// each other one, and closes that port with the first connection. Gloo does not
// ask a process who it is: so each side then sends a tag under the run's token,
// and the processes connect again where one is missing.
//
// A connection that breaks, or ends, in the midst of a message is not noticed
// by the call that waits for the message (Gloo of 2022, which Debian has). All
// waiting goes through buffers of this context, which `end` wakes.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_GLOOCONTEXT_H
#define NEREID_APPS_GPT2_DISTRIBUTED_GLOOCONTEXT_H

#include "apps/gpt2/distributed/ControlChannel.h"

#include <gloo/rendezvous/context.h>

#include <memory>

namespace nereid::gpt2 {

class GlooContext final : public gloo::rendezvous::Context {
public:
  /// Collective; before `peers.watch`, in a thread that SIGPIPE does not reach:
  /// threads of Gloo inherit that. Throws IoError.
  static std::shared_ptr<GlooContext> connect(ControlChannel &peers);

  GlooContext(int rank, int size);
  /// Each wait throws gloo::Exception, now and later; in any thread.
  void end();

  /// By which one process knows another: no good in another direction, and at
  /// another attempt, for which all have drawn other numbers.
  static std::string tagOfPair(const std::string &token,
                               const std::vector<std::string> &randoms,
                               int from, int to);

private:
  /// Null where it did not succeed; `wrong` says why.
  static std::shared_ptr<GlooContext> tryConnect(ControlChannel &peers,
                                                 std::string &wrong);
  void greetAll(const ControlChannel &peers,
                const std::vector<std::string> &randoms);

  class Waits;
  std::shared_ptr<Waits> waits;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_GLOOCONTEXT_H
