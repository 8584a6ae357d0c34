//===- Strangers.h - Connections of no run ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_TESTING_STRANGERS_H
#define NEREID_APPS_GPT2_DISTRIBUTED_TESTING_STRANGERS_H

#include "apps/gpt2/distributed/Secret.h"
#include "apps/gpt2/distributed/Socket.h"

#include "nereid/Runtime/Error.h"

#include <cerrno>
#include <cstring>

namespace nereid::gpt2 {

enum class StrangerKind { Silent, Rubbish, WithoutSecret };

/// At 127.0.0.1, whether or not anybody answers.
inline Socket strangerAt(int port, StrangerKind kind) {
  constexpr double hour = 3600;
  Deadline end = secondsFromNow(hour);
  Socket socket;
  if (!connectToAny(addressesOf("127.0.0.1", port), hour,
                    [&](Socket &made, Deadline) {
                      socket = std::move(made);
                      return true;
                    })) {
    raise({ErrorCode::IoError,
           std::string("a stranger cannot connect: ") + std::strerror(errno),
           {}});
  }
  if (kind == StrangerKind::Rubbish) {
    socket.sendNow("GET / HTTP/1.1\r\nHost: nereid\r\n\r\n");
  } else if (kind == StrangerKind::WithoutSecret) {
    socket.sendText(randomBytes() + randomBytes() +
                        "nereid-gpt2 " NEREID_VERSION " 1 2",
                    end);
  }
  return socket;
}

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_TESTING_STRANGERS_H
