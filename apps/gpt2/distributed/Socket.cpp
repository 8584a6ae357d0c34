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
#include <memory>
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

static constexpr uint32_t mostText = 1 << 20;

void Socket::sendText(const std::string &text, Deadline deadline) const {
  auto bytes = static_cast<uint32_t>(text.size());
  send(&bytes, sizeof(bytes), deadline);
  send(text.data(), bytes, deadline);
}

std::string Socket::receiveText(Deadline deadline) const {
  uint32_t bytes = 0;
  receive(&bytes, sizeof(bytes), deadline);
  if (bytes > mostText) {
    fail("receiving from another process", EPROTO);
  }
  std::string text(bytes, '\0');
  receive(text.data(), bytes, deadline);
  return text;
}

static std::string addressText(const sockaddr_storage &address,
                               socklen_t length) {
  char text[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr *>(&address), length, text,
              sizeof(text), nullptr, 0, NI_NUMERICHOST);
  return text;
}

std::string Socket::localAddress() const {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &length);
  return addressText(address, length);
}

std::string Socket::remoteAddress() const {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  getpeername(descriptor, reinterpret_cast<sockaddr *>(&address), &length);
  return addressText(address, length);
}

int Socket::localPort() const {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &length);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6 &>(address).sin6_port
                   : reinterpret_cast<sockaddr_in &>(address).sin_port);
}

void Socket::shutDown() const { shutdown(descriptor, SHUT_RDWR); }

Socket gpt2::listenAt(int port) {
  Socket listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int yes = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<uint16_t>(port));
  constexpr int backlog = 1024;
  if (!listener.isOpen() ||
      bind(listener.get(), reinterpret_cast<sockaddr *>(&address),
           sizeof(address)) != 0 ||
      listen(listener.get(), backlog) != 0) {
    fail("listening at port " + std::to_string(port), errno);
  }
  return listener;
}

static void sendAtOnce(const Socket &socket) {
  int yes = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

Socket gpt2::acceptFrom(const Socket &listener, Deadline deadline) {
  for (;;) {
    waitFor(listener.get(), POLLIN, deadline, "waiting for other processes");
    Socket accepted(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (accepted.isOpen()) {
      sendAtOnce(accepted);
      return accepted;
    }
  }
}

std::optional<Socket> gpt2::tryConnect(const std::string &host, int port,
                                       Deadline deadline) {
  addrinfo wanted = {}, *found = nullptr;
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted,
                  &found) != 0) {
    return std::nullopt;
  }
  std::unique_ptr<addrinfo, void (*)(addrinfo *)> guard(found, freeaddrinfo);
  Socket made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connect(made.get(), found->ai_addr, found->ai_addrlen) != 0) {
    pollfd one = {made.get(), POLLOUT, 0};
    int error = 0;
    socklen_t length = sizeof(error);
    if (errno != EINPROGRESS ||
        poll(&one, 1, millisecondsUntil(deadline)) < 1 ||
        getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0 ||
        error != 0) {
      return std::nullopt;
    }
  }
  sendAtOnce(made);
  return made;
}
