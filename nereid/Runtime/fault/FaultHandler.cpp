//===- FaultHandler.cpp - Signals inside kernels become errors ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/FaultHandler.h"

#include "nereid/Runtime/fault/FaultGuard.h"
#include "nereid/Runtime/fault/OutOfMemory.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace nereid {

static constexpr int handledSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

static std::atomic<bool> isInstalled = false;
/// What was there before, by position in handledSignals.
static struct sigaction previous[std::size(handledSignals)];

/// The thread's guard, which handlers read: of what belongs to a thread, only a
/// key's value and a thread_local of the model initial-exec are read without an
/// allocation, and the latter makes a library that dlopen may refuse ("cannot
/// allocate memory in static TLS block").
static pthread_key_t guardKey() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    if (pthread_key_create(&made, nullptr) != 0) {
      std::abort(); // 1024 keys of a process are in use
    }
    return made;
  }();
  return key;
}

bool hasFaultHandler() { return isInstalled.load(std::memory_order_relaxed); }

//===----------------------------------------------------------------------===//
// A stack for handlers
//===----------------------------------------------------------------------===//

namespace {

/// A kernel that ran out of stack has none left for the handler.
class HandlerStack {
public:
  void prepare() {
    stack_t now;
    if (isChecked || sigaltstack(nullptr, &now) != 0) {
      return;
    }
    isChecked = true;
    if (!(now.ss_flags & SS_DISABLE)) {
      return; // somebody else's will do
    }
    void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
      return;
    }
    memory = pages;
    stack_t mine{};
    mine.ss_sp = memory;
    mine.ss_size = bytes;
    sigaltstack(&mine, nullptr);
  }
  ~HandlerStack() {
    if (memory) {
      stack_t none{};
      none.ss_flags = SS_DISABLE;
      sigaltstack(&none, nullptr);
      munmap(memory, bytes);
    }
  }

private:
  static constexpr size_t bytes = 64 * 1024; ///< AVX-512 state is 3 KiB of it
  void *memory = nullptr;
  bool isChecked = false;
};

thread_local HandlerStack handlerStack;

} // namespace

FaultGuard::FaultGuard() : outer(current()) {
  handlerStack.prepare();
  setCurrent(this);
}

FaultGuard::~FaultGuard() { setCurrent(outer); }

FaultGuard *FaultGuard::current() {
  return static_cast<FaultGuard *>(pthread_getspecific(guardKey()));
}

void FaultGuard::setCurrent(FaultGuard *guard) {
  pthread_setspecific(guardKey(), guard);
}

void FaultGuard::landed() const {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal.signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

//===----------------------------------------------------------------------===//
// Text that a handler can make
//===----------------------------------------------------------------------===//

namespace {

/// Writes to standard error in one piece, allocating nothing.
class SignalText {
public:
  SignalText &operator<<(const char *more) {
    while (*more && size < sizeof(text)) {
      text[size++] = *more++;
    }
    return *this;
  }
  SignalText &operator<<(uint64_t value) {
    char digits[19] = "0x";
    int count = 1;
    for (uint64_t rest = value; rest >>= 4;) {
      ++count;
    }
    for (int i = 0; i < count; ++i) {
      digits[2 + i] = "0123456789abcdef"[value >> 4 * (count - 1 - i) & 15];
    }
    return *this << static_cast<const char *>(digits);
  }
  void write() const {
    size_t done = 0;
    while (done < size) {
      ssize_t now = ::write(STDERR_FILENO, text + done, size - done);
      if (now <= 0 && errno != EINTR) {
        return;
      }
      done += now > 0 ? static_cast<size_t>(now) : 0;
    }
  }

private:
  char text[4096];
  size_t size = 0;
};

} // namespace

static const char *nameOf(int signal) {
  switch (signal) {
  case SIGSEGV:
    return "segmentation fault";
  case SIGBUS:
    return "bus error";
  case SIGFPE:
    return "division by zero, or a quotient that does not fit";
  default:
    return "illegal instruction";
  }
}

static bool isAboutMemory(int signal) {
  return signal == SIGSEGV || signal == SIGBUS;
}

template <typename Out>
static void describe(Out &out, const KernelSignal &signal) {
  out << nameOf(signal.signal);
  if (isAboutMemory(signal.signal)) {
    if (signal.hasAddress) {
      out << " at address " << signal.address;
    } else {
      out << " at an address that no process can have";
    }
  }
}

std::string describeSignal(const KernelSignal &signal) {
  struct {
    std::string text;
    auto &operator<<(const char *more) {
      text += more;
      return *this;
    }
    auto &operator<<(uint64_t value) {
      char digits[24];
      std::snprintf(digits, sizeof(digits), "0x%llx",
                    static_cast<unsigned long long>(value));
      text += digits;
      return *this;
    }
  } out;
  describe(out, signal);
  return out.text;
}

//===----------------------------------------------------------------------===//
// The handler
//===----------------------------------------------------------------------===//

static KernelSignal read(int number, const siginfo_t *info,
                         const void *context) {
  KernelSignal signal;
  signal.signal = number;
  // A non-canonical address is a general protection fault: no address.
  signal.hasAddress = isAboutMemory(number) && info->si_code != SI_KERNEL;
  signal.address = reinterpret_cast<uint64_t>(info->si_addr);
#if defined(__x86_64__)
  const auto &registers =
      static_cast<const ucontext_t *>(context)->uc_mcontext.gregs;
  signal.instruction = static_cast<uint64_t>(registers[REG_RIP]);
  // memcpy and its like push nothing. Of a stack that has run out, nothing can
  // be read.
  auto stack = static_cast<uint64_t>(registers[REG_RSP]);
  bool isNearStack =
      signal.address + (1 << 20) > stack && signal.address < stack + (1 << 20);
  if (!isAboutMemory(number) || (signal.hasAddress && !isNearStack)) {
    std::memcpy(&signal.returnsTo, reinterpret_cast<const void *>(stack), 8);
  }
#endif
  return signal;
}

[[noreturn]] static void printKernelFault(const FaultGuard &guard) {
  SignalText text;
  text << "error: ";
  describe(text, guard.signal);
  text << guard.scene << "\n";
  text.write();
  _exit(1);
}

static void printOtherFault(const KernelSignal &signal) {
  SignalText text;
  text << "internal error: ";
  describe(text, signal);
  text << ", outside of any kernel (instruction " << signal.instruction
       << ")\nThis is a mistake in nereid, or memory that a kernel overwrote "
          "earlier: run again with NEREID_CHECK=oob.\nIf that finds nothing, "
          "please report the command line, the kernel, and what nereid doctor "
          "says.\n";
  text.write();
}

/// LLVM's libraries take memory with malloc here and there and do not look at
/// the result (mlir::detail::InterfaceMap): under a limit of data they write
/// through a null pointer. Is that what happened? Then the system gives the
/// little that a program needs at any time to no one.
static bool isForLackOfMemory(const KernelSignal &signal) {
  constexpr uint64_t largestObject = 64 << 10;
  constexpr size_t little = size_t{8} << 20;
  if (!signal.hasAddress || signal.address >= largestObject) {
    return false;
  }
  void *pages = mmap(nullptr, little, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return errno == ENOMEM;
  }
  munmap(pages, little);
  return false;
}

/// As if this handler were not there.
static void passOn(int number, siginfo_t *info, void *context) {
  for (size_t i = 0; i < std::size(handledSignals); ++i) {
    if (handledSignals[i] != number) {
      continue;
    }
    const struct sigaction &before = previous[i];
    if (before.sa_flags & SA_SIGINFO) {
      return before.sa_sigaction(number, info, context);
    }
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
      return before.sa_handler(number);
    }
  }
  KernelSignal signal = read(number, info, context);
  if (isForLackOfMemory(signal)) {
    (SignalText() << outOfMemoryText).write();
    _exit(1);
  }
  printOtherFault(signal);
  ::signal(number, SIG_DFL);
  ::raise(number); // delivered when the handler returns
}

static void handle(int number, siginfo_t *info, void *context) {
  FaultGuard *guard = FaultGuard::current();
  // What a process sends with kill has a code of 0 or less.
  if (!guard || info->si_code <= 0) {
    return passOn(number, info, context);
  }
  FaultGuard::setCurrent(nullptr); // a second fault is not the kernel's
  guard->signal = read(number, info, context);
  if (!guard->canEscape) {
    printKernelFault(*guard);
  }
  siglongjmp(guard->escape, 1);
}

void installFaultHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < std::size(handledSignals); ++i) {
      sigaction(handledSignals[i], &action, &previous[i]);
    }
    handlerStack.prepare(); // of this thread, also outside of kernels
    isInstalled = true;
  });
}

} // namespace nereid
