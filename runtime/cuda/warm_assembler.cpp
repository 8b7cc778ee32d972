// What the PTX compiler does once in a process is done while a kernel is traced and compiled to PTX: its library is loaded and
// relocated, its tables are made and their pages brought in, by a kernel of no instructions.
#include "runtime/cuda/assembler.h"
#include "tilery/diagnostic.h"
#include <csignal>
#include <cstdlib>
#include <future>
#include <mutex>
#include <pthread.h>
#include <system_error>

namespace tilery {
namespace cuda {
namespace {
std::mutex mutex;              // guards what follows
std::shared_future<void> warm; // ready: the thread has ended

void settle() {
  std::lock_guard lock(mutex);
  if (warm.valid())
    warm.wait();
}

// A forked process would find the compiler's locks held by a thread that it has not got.
void prepareFork() {
  mutex.lock();
  if (warm.valid())
    warm.wait();
}
void afterFork() { mutex.unlock(); }

void assembleNothing(const std::string &arch) {
  try {
    assemble(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry tilery_warm() { ret; }\n", arch);
  } catch (const Error &) { // of no interest: nobody runs this kernel
  }
  std::atexit(settle); // runs before the end of the compiler's library, which was loaded earlier
}

/// By a thread that takes no signals but its own faults: others belong to the threads of the program.
std::shared_future<void> startThread(const std::string &arch) {
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) // a blocked fault ends the process before anybody can report it
    sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::shared_future<void> started;
  try {
    started = std::async(std::launch::async, assembleNothing, arch);
  } catch (const std::system_error &) { // no more threads to be had: the first kernel takes longer
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}
} // namespace
} // namespace cuda

void warmAssembler(int device) {
  static std::once_flag once;
  std::call_once(once, [&] {
    pthread_atfork(cuda::prepareFork, cuda::afterFork, cuda::afterFork);
    std::lock_guard lock(cuda::mutex);
    cuda::warm = cuda::startThread(cuda::archOf(gpuProperties(device)));
  });
}
} // namespace tilery
