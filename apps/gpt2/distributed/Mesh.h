//===- Mesh.h - A connection between each two processes --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_MESH_H
#define NEREID_APPS_GPT2_DISTRIBUTED_MESH_H

#include "apps/gpt2/distributed/Peers.h"

#include <cstddef>

namespace nereid::gpt2 {

class Mesh {
public:
  /// Collective; before `peers.watch`.
  explicit Mesh(Peers &peers);

  struct Message {
    const void *send = nullptr;
    size_t sendBytes = 0;
    void *receive = nullptr;
    size_t receiveBytes = 0;
  };
  /// One message with each process, all at once; that of this process is left
  /// out. `what` names the call: all processes must be at the same one. Throws
  /// IoError where a process is gone.
  void exchange(const std::string &what, std::vector<Message> messages);

  /// Ends what waits, in any thread.
  void shutDown() const;

private:
  Peers &peers;
  std::vector<Socket> sockets; ///< by rank
  uint64_t calls = 0;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_MESH_H
