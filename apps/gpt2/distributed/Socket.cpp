//===- Socket.cpp - TCP, with deadlines -----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Socket.h"

#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;

[[noreturn]] static void fail(const std::string &what, int error) {
  raise({ErrorCode::IoError, what + ": " + std::strerror(error), {}});
}

Deadline gpt2::secondsFromNow(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             std::chrono::duration<double>(seconds));
}

int gpt2::millisecondsUntil(Deadline deadline) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  constexpr int64_t most = 1'000'000;
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, most));
}

/// Until `events` hold.
static void waitFor(int descriptor, short events, Deadline deadline,
                    const char *what) {
  for (;;) {
    pollfd one = {descriptor, events, 0};
    int ready = poll(&one, 1, millisecondsUntil(deadline));
    if (ready > 0) {
      return;
    }
    if (ready == 0) {
      fail(what, ETIMEDOUT);
    }
    if (errno != EINTR) {
      fail(what, errno);
    }
  }
}

Socket::~Socket() {
  if (descriptor >= 0) {
    close(descriptor);
  }
}

void Socket::send(const void *data, size_t bytes, Deadline deadline) const {
  const char *at = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t sent = ::send(descriptor, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      at += sent;
      bytes -= size_t(sent);
    } else if (errno == EAGAIN) {
      waitFor(descriptor, POLLOUT, deadline, "sending to another process");
    } else if (errno != EINTR) {
      fail("sending to another process", errno);
    }
  }
}

void Socket::receive(void *data, size_t bytes, Deadline deadline) const {
  char *at = static_cast<char *>(data);
  while (bytes > 0) {
    ssize_t got = recv(descriptor, at, bytes, MSG_DONTWAIT);
    if (got > 0) {
      at += got;
      bytes -= size_t(got);
    } else if (got == 0) {
      fail("receiving from another process", ECONNRESET);
    } else if (errno == EAGAIN) {
      waitFor(descriptor, POLLIN, deadline, "receiving from another process");
    } else if (errno != EINTR) {
      fail("receiving from another process", errno);
    }
  }
}

bool Socket::sendNow(const std::string &bytes) const {
  ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(),
                        MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent == ssize_t(bytes.size());
}

void Socket::sendText(const std::string &text, Deadline deadline) const {
  auto bytes = static_cast<uint32_t>(text.size());
  send(&bytes, sizeof(bytes), deadline);
  send(text.data(), bytes, deadline);
}

std::string Socket::receiveText(Deadline deadline, size_t most) const {
  uint32_t bytes = 0;
  receive(&bytes, sizeof(bytes), deadline);
  if (bytes > most) {
    fail("receiving from another process", EPROTO);
  }
  std::string text(bytes, '\0');
  receive(text.data(), bytes, deadline);
  return text;
}

std::string Socket::localAddress() const {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &length);
  char text[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr *>(&address), length, text,
              sizeof(text), nullptr, 0, NI_NUMERICHOST);
  // Of IPv4, at a listener of both.
  std::string_view mapped = "::ffff:", number = text;
  if (number.starts_with(mapped) &&
      number.find('.') != std::string_view::npos) {
    number.remove_prefix(mapped.size());
  }
  return std::string(number);
}

int Socket::localPort() const {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &length);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6 &>(address).sin6_port
                   : reinterpret_cast<sockaddr_in &>(address).sin_port);
}

std::string gpt2::placeText(const std::string &host, int port) {
  bool isNumber6 = host.find(':') != std::string::npos;
  return (isNumber6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool gpt2::isLoopback(const std::string &address) {
  in_addr four = {};
  constexpr uint32_t network = 127;
  return address == "::1" || (inet_pton(AF_INET, address.c_str(), &four) == 1 &&
                              ntohl(four.s_addr) >> 24 == network);
}

std::vector<Address> gpt2::addressesOf(const std::string &host, int port) {
  addrinfo wanted = {}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  std::vector<Address> addresses;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted,
                  &found) != 0) {
    return addresses;
  }
  for (addrinfo *one = found; one; one = one->ai_next) {
    Address &address = addresses.emplace_back();
    std::memcpy(&address.bytes, one->ai_addr, one->ai_addrlen);
    address.length = one->ai_addrlen;
  }
  freeaddrinfo(found);
  return addresses;
}

static const sockaddr *bytesOf(const Address &address) {
  return reinterpret_cast<const sockaddr *>(&address.bytes);
}

static Socket socketFor(const Address &address) {
  return Socket(socket(address.bytes.ss_family,
                       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

Socket gpt2::listenAt(const std::vector<Address> &addresses,
                      const std::string &place) {
  int error = ENXIO;
  for (const Address &one : addresses) {
    Socket listener = socketFor(one);
    int yes = 1;
    constexpr int backlog = 4096;
    if (listener.isOpen() &&
        setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes,
                   sizeof(yes)) == 0 &&
        bind(listener.get(), bytesOf(one), one.length) == 0 &&
        listen(listener.get(), backlog) == 0) {
      return listener;
    }
    error = errno;
    if (error != EADDRNOTAVAIL && error != EAFNOSUPPORT) {
      break;
    }
  }
  fail("process 0 listening at " + place +
           ": expected a free port of an address of its machine",
       error);
}

Socket gpt2::listenAt(const std::string &host, int port) {
  return listenAt(addressesOf(host, port), placeText(host, port));
}

static void sendAtOnce(const Socket &socket) {
  int yes = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

Socket gpt2::acceptNow(const Socket &listener) {
  Socket accepted(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (accepted.isOpen()) {
    sendAtOnce(accepted);
  }
  return accepted;
}

/// Closed where no process listens (yet).
static Socket connectTo(const Address &address, Deadline deadline) {
  Socket made = socketFor(address);
  if (!made.isOpen()) {
    return made;
  }
  if (connect(made.get(), bytesOf(address), address.length) != 0) {
    pollfd one = {made.get(), POLLOUT, 0};
    int error = 0;
    socklen_t length = sizeof(error);
    if (errno != EINPROGRESS ||
        poll(&one, 1, millisecondsUntil(deadline)) < 1 ||
        getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0 ||
        error != 0) {
      return {};
    }
  }
  sendAtOnce(made);
  return made;
}

bool gpt2::connectToAny(const std::vector<Address> &addresses, double seconds,
                        const std::function<bool(Socket &, Deadline)> &use) {
  return std::ranges::any_of(addresses, [&](const Address &address) {
    Deadline deadline = secondsFromNow(seconds);
    Socket socket = connectTo(address, deadline);
    return socket.isOpen() && use(socket, deadline);
  });
}
