//===- GlooContext.cpp - Gloo's connections of a run ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/GlooContext.h"

#include "apps/gpt2/distributed/Secret.h"

#include "nereid/Runtime/Error.h"

#include <gloo/rendezvous/store.h>
#include <gloo/transport/context.h>
#include <gloo/transport/tcp/attr.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <map>
#include <unordered_set>

using namespace nereid;
using namespace nereid::gpt2;

using std::chrono::milliseconds;
using BufferPointer = std::unique_ptr<gloo::transport::UnboundBuffer>;

namespace {

/// What processes tell each other before they connect. Each one sets values of
/// its own, under keys that end with its rank, as often as the others; then it
/// waits for theirs. So `set` may be collective.
class MeetingStore final : public gloo::rendezvous::Store {
public:
  explicit MeetingStore(ControlChannel &peers) : peers(peers) {}

  void set(const std::string &key, const std::vector<char> &data) override {
    const Processes &all = peers.processes();
    std::string own = std::to_string(all.rank);
    std::string prefix = key.substr(0, key.size() - own.size());
    std::vector<std::string> texts =
        peers.gather(std::string(data.begin(), data.end()));
    for (size_t r = 0; r < texts.size(); ++r) {
      values[prefix + std::to_string(r)].assign(texts[r].begin(),
                                                texts[r].end());
    }
  }
  std::vector<char> get(const std::string &key) override { return values[key]; }
  void wait(const std::vector<std::string> &keys) override { hasAll = true; }

  /// Each has set all: the others wait for nothing of this process.
  bool isDone() const { return hasAll; }

private:
  ControlChannel &peers;
  bool hasAll = false;
  std::map<std::string, std::vector<char>> values;
};

} // namespace

/// Makes buffers whose waits can be ended.
class GlooContext::Waits final
    : public gloo::transport::Context,
      public std::enable_shared_from_this<GlooContext::Waits> {
public:
  explicit Waits(std::shared_ptr<gloo::transport::Context> context)
      : Context(context->rank, context->size), context(std::move(context)) {
    setTimeout(this->context->getTimeout());
  }

  std::unique_ptr<gloo::transport::Pair> &getPair(int rank) override {
    return context->getPair(rank);
  }
  std::unique_ptr<gloo::transport::Pair> &createPair(int rank) override {
    return context->createPair(rank);
  }
  BufferPointer createUnboundBuffer(void *data, size_t bytes) override;

  void endAll();

private:
  class Buffer;
  std::shared_ptr<gloo::transport::Context> context;
  std::mutex mutex;
  std::unordered_set<gloo::transport::UnboundBuffer *> buffers;
  bool hasEnded = false;
};

class GlooContext::Waits::Buffer final : public gloo::transport::UnboundBuffer {
public:
  Buffer(std::shared_ptr<Waits> waits, void *data, size_t bytes)
      : UnboundBuffer(data, bytes), waits(std::move(waits)),
        buffer(this->waits->context->createUnboundBuffer(data, bytes)) {
    std::lock_guard lock(this->waits->mutex);
    this->waits->buffers.insert(buffer.get());
    if (this->waits->hasEnded) {
      buffer->abortWaitRecv();
      buffer->abortWaitSend();
    }
  }
  ~Buffer() override {
    std::lock_guard lock(waits->mutex);
    waits->buffers.erase(buffer.get());
  }

  bool waitRecv(int *rank, milliseconds timeout) override {
    return buffer->waitRecv(rank, timeout) || giveUp();
  }
  bool waitSend(int *rank, milliseconds timeout) override {
    return buffer->waitSend(rank, timeout) || giveUp();
  }
  void abortWaitRecv() override { buffer->abortWaitRecv(); }
  void abortWaitSend() override { buffer->abortWaitSend(); }
  void send(int rank, uint64_t slot, size_t offset, size_t bytes) override {
    buffer->send(rank, slot, offset, bytes);
  }
  void recv(int rank, uint64_t slot, size_t offset, size_t bytes) override {
    buffer->recv(rank, slot, offset, bytes);
  }
  void recv(std::vector<int> ranks, uint64_t slot, size_t offset,
            size_t bytes) override {
    buffer->recv(std::move(ranks), slot, offset, bytes);
  }

private:
  static bool giveUp() { throw gloo::IoException("the wait was ended"); }

  std::shared_ptr<Waits> waits;
  BufferPointer buffer;
};

BufferPointer GlooContext::Waits::createUnboundBuffer(void *data,
                                                      size_t bytes) {
  return std::make_unique<Buffer>(shared_from_this(), data, bytes);
}

void GlooContext::Waits::endAll() {
  std::lock_guard lock(mutex);
  hasEnded = true;
  for (gloo::transport::UnboundBuffer *buffer : buffers) {
    buffer->abortWaitRecv();
    buffer->abortWaitSend();
  }
}

GlooContext::GlooContext(int rank, int size) : Context(rank, size) {}

void GlooContext::end() { waits->endAll(); }

static milliseconds toMilliseconds(double seconds) {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::duration<double>(seconds));
}

std::string GlooContext::tagOfPair(const std::string &token,
                                   const std::vector<std::string> &randoms,
                                   int from, int to) {
  return tagOf(token, {"pair", std::to_string(from), std::to_string(to),
                       randoms[size_t(from)], randoms[size_t(to)]});
}

void GlooContext::greetAll(const ControlChannel &peers,
                           const std::vector<std::string> &randoms) {
  // Of no collective call, whose slots have another first byte.
  constexpr uint64_t slot = uint64_t{0xff} << 56;
  milliseconds patience = toMilliseconds(peers.processes().silenceSeconds);
  std::vector<std::string> sent(size_t(size), ""), got(size_t(size), "");
  std::vector<BufferPointer> buffers;
  for (int r = 0; r < size; ++r) {
    if (r != rank) {
      sent[size_t(r)] = tagOfPair(peers.token(), randoms, rank, r);
      got[size_t(r)].resize(tagBytes);
      buffers.push_back(createUnboundBuffer(sent[size_t(r)].data(), tagBytes));
      buffers.back()->send(r, slot);
      buffers.push_back(createUnboundBuffer(got[size_t(r)].data(), tagBytes));
      buffers.back()->recv(r, slot);
    }
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    i % 2 == 0 ? buffers[i]->waitSend(patience)
               : buffers[i]->waitRecv(patience);
  }
  for (int r = 0; r < size; ++r) {
    if (r != rank &&
        !isSame(got[size_t(r)], tagOfPair(peers.token(), randoms, r, rank))) {
      throw gloo::IoException("the process that connected is not process " +
                              std::to_string(r));
    }
  }
}

std::shared_ptr<GlooContext> GlooContext::tryConnect(ControlChannel &peers,
                                                     std::string &wrong) {
  const Processes &all = peers.processes();
  std::vector<std::string> randoms = peers.gather(randomBytes());
  auto context = std::make_shared<GlooContext>(all.rank, all.size);
  MeetingStore store(peers);
  auto fail = [&](const char *why) -> std::shared_ptr<GlooContext> {
    wrong = nameOf(all.rank, all) + " at " + peers.ownAddress() + ": " + why;
    if (!store.isDone()) {
      raise({ErrorCode::IoError, wrong, {}});
    }
    return nullptr;
  };
  try {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = peers.ownAddress();
    std::shared_ptr<gloo::transport::Device> device =
        gloo::transport::tcp::CreateDevice(attributes);
    // Gloo waits for a connection five times as long.
    constexpr double share = 0.2;
    context->setTimeout(toMilliseconds(share * all.silenceSeconds));
    context->connectFullMesh(store, device);
    context->waits = std::make_shared<Waits>(context->transportContext_);
    context->transportContext_ = context->waits;
    context->greetAll(peers, randoms);
    return context;
  } catch (const gloo::Exception &error) {
    return fail(error.what());
  } catch (const gloo::EnforceNotMet &error) {
    return fail(error.what());
  }
}

std::shared_ptr<GlooContext> GlooContext::connect(ControlChannel &peers) {
  std::string wrong;
  constexpr int tries = 3;
  for (int i = 0; i < tries; ++i) {
    std::string own;
    std::shared_ptr<GlooContext> context = tryConnect(peers, own);
    wrong.clear();
    for (const std::string &one : peers.gather(own)) {
      wrong = wrong.empty() ? one : wrong;
    }
    if (wrong.empty()) {
      return context;
    }
  }
  raise({ErrorCode::IoError,
         "the processes cannot connect to each other: " + wrong +
             "; hint: a firewall between the machines?",
         {}});
}
