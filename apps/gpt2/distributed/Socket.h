//===- Socket.h - TCP, with deadlines --------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All functions throw IoError: past the deadline, or where the other side has
// closed the connection.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_SOCKET_H
#define NEREID_APPS_GPT2_DISTRIBUTED_SOCKET_H

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace nereid::gpt2 {

using Deadline = std::chrono::steady_clock::time_point;
Deadline secondsFromNow(double seconds);
/// For poll(): at least 0.
int millisecondsUntil(Deadline deadline);

/// Owns a descriptor.
class Socket {
public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor(descriptor) {}
  Socket(Socket &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~Socket();

  int get() const { return descriptor; }
  bool isOpen() const { return descriptor >= 0; }
  void send(const void *data, size_t bytes, Deadline deadline) const;
  void receive(void *data, size_t bytes, Deadline deadline) const;
  /// A length and the bytes. At most 1 MiB.
  void sendText(const std::string &text, Deadline deadline) const;
  std::string receiveText(Deadline deadline) const;
  /// The number of this side's or the other side's address.
  std::string localAddress() const;
  std::string remoteAddress() const;
  int localPort() const;
  /// Ends what waits for it, in any thread.
  void shutDown() const;

private:
  int descriptor = -1;
};

/// Port 0: any that is free.
Socket listenAt(int port);
Socket acceptFrom(const Socket &listener, Deadline deadline);
/// Nothing where nobody listens (yet).
std::optional<Socket> tryConnect(const std::string &host, int port,
                                 Deadline deadline);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_SOCKET_H
