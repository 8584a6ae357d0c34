//===- Socket.h - TCP, with deadlines ---------------------------*- C++ -*-===//
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
#include <functional>
#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

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
  /// A length and the bytes, at most `most` of them.
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
/// `address` is a number, no name.
bool isLoopback(const std::string &address);

struct Address {
  sockaddr_storage bytes = {};
  socklen_t length = 0;
};

/// The addresses of a name, or of a number of IPv4 or IPv6; none where the name
/// is not known.
std::vector<Address> addressesOf(const std::string &host, int port);

/// At the first one that this machine has: where that is taken, at none, for
/// the others try them in this order. `place` is for the message.
Socket listenAt(const std::vector<Address> &addresses,
                const std::string &place);
/// Port 0: any that is free.
Socket listenAt(const std::string &host, int port);
/// Closed where no guest is at the door; errno says why.
Socket acceptNow(const Socket &listener);
/// Connects to the addresses in turn, until `use` says that this was the one.
/// For each there are `seconds`, the deadline that `use` gets. Returns whether
/// there was one.
bool connectToAny(const std::vector<Address> &addresses, double seconds,
                  const std::function<bool(Socket &, Deadline)> &use);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_SOCKET_H
