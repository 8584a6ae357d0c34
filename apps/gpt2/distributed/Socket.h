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
  /// What fits at once: false where that is not all.
  bool sendNow(const std::string &bytes) const;
  /// A length and the bytes, of which there are at most `most`.
  void sendText(const std::string &text, Deadline deadline) const;
  std::string receiveText(Deadline deadline, size_t most = 1 << 20) const;
  /// The number of this side's address.
  std::string localAddress() const;
  int localPort() const;

private:
  int descriptor = -1;
};

/// "node7:1234", "[::1]:1234".
std::string placeText(const std::string &host, int port);
/// Of a number.
bool isLoopback(const std::string &address);

/// At the first address of `host`, a name or a number of IPv4 or IPv6, that
/// this machine has. Port 0: any that is free.
Socket listenAt(const std::string &host, int port);
/// Closed where nobody is at the door; errno says why.
Socket acceptNow(const Socket &listener);
/// To any address of `host`. Nothing where nobody listens (yet).
std::optional<Socket> tryConnect(const std::string &host, int port,
                                 Deadline deadline);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_SOCKET_H
