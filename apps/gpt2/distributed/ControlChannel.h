//===- ControlChannel.h - The other processes, alive or not -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each process has a connection to process 0, which no tensor goes over. At
// first it carries what all have to know of each other; then a thread sends a
// sign of life every second, which also says at which calls the process is, and
// listens for those of the other side. A
// connection that closes without a goodbye, and a process that is silent for
// too long, end the run: process 0 tells all others which one it was. Where
// this process itself has stood still (Ctrl-Z), it waits again: the others may
// have stood with it.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_CONTROLCHANNEL_H
#define NEREID_APPS_GPT2_DISTRIBUTED_CONTROLCHANNEL_H

#include "apps/gpt2/distributed/Meeting.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace nereid::gpt2 {

class ControlChannel {
public:
  /// Meets the others. Throws IoError, or InvalidArgument where they are not of
  /// one run.
  explicit ControlChannel(const Processes &processes);
  /// Says goodbye; or, where an exception is on its way, that this process has
  /// failed.
  ~ControlChannel();
  ControlChannel(const ControlChannel &) = delete;
  ControlChannel &operator=(const ControlChannel &) = delete;

  /// One text of each process, by rank. Collective; before `watch`.
  std::vector<std::string> gather(const std::string &text);
  /// By which this process has met process 0, or process 0 the first of them.
  std::string ownAddress() const;
  /// Random bytes that all processes of the run know, and no others.
  const std::string &token() const { return token_; }
  const Processes &processes() const { return all; }

  /// Begins to look for signs of life. `onFailure` is called once, in a thread
  /// of its own, to end what waits for the others; `isFailing` says what is
  /// wrong beside the connections (empty: nothing), each second, and does not
  /// wait. A process that has not ended by itself `graceSeconds` after a
  /// failure is ended.
  void watch(std::function<void()> onFailure,
             std::function<std::string()> isFailing = {},
             double graceSeconds = 8);

  /// What this process is at: call `number` of those that all make alike. Signs
  /// of life tell process 0 of it, which ends the run where they differ.
  void note(uint64_t number, std::string call);

  bool hasFailed() const { return failed.load(); }
  /// Throws IoError if a process is gone.
  void check() const;
  /// Throws as well if one has said goodbye: before what needs all of them.
  void checkAllAreHere() const;
  /// The failure that the connections have shown or will show shortly; else
  /// `otherwise`.
  [[noreturn]] void raiseFailure(const std::string &otherwise) const;

private:
  struct Link {
    Socket socket;
    int rank = 0;
    Deadline heard;
    std::string unread;
    bool hasLeft = false;
  };

  void run();
  void listenTo(Link &link);
  void forgetOwnPause(Deadline now);
  void handle(Link &link, char kind, const std::string &text);
  std::string lastCalls() const;
  /// What is wrong with the calls of process `rank`; empty: nothing.
  std::string differenceFrom(const std::string &calls, int rank) const;
  void fail(const std::string &message, int except);
  std::string nameOf(int rank) const { return gpt2::nameOf(rank, all); }

  Processes all;
  std::string token_;
  std::vector<Link> links; ///< process 0: to all others; else to process 0
  std::function<void()> onFailure;
  std::function<std::string()> isFailing;
  double graceSeconds = 0;
  Deadline lastRound; ///< of `run`
  std::atomic<bool> failed = false, stops = false;
  std::atomic<int> left = -1; ///< a process that has said goodbye
  mutable std::mutex mutex;
  std::string failure;
  std::deque<std::pair<uint64_t, std::string>> calls; ///< the last ones
  std::thread thread;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_CONTROLCHANNEL_H
