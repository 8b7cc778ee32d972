// What is newer than the C library that the module is linked for (tools/glibc_stubs.py), by means of that one: for LLVM, libstdc++ and
// our own code, which are compiled for a newer one. None of it is visible outside of the module.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// 2.33: before, these were inline functions around these.
enum { STAT_VERSION = 1 };
int __xstat(int, const char *, struct stat *);
int __lxstat(int, const char *, struct stat *);
int __fxstat(int, int, struct stat *);
int __fxstatat(int, int, const char *, struct stat *, int);

int stat(const char *path, struct stat *result) { return __xstat(STAT_VERSION, path, result); }
int lstat(const char *path, struct stat *result) { return __lxstat(STAT_VERSION, path, result); }
int fstat(int file, struct stat *result) { return __fxstat(STAT_VERSION, file, result); }
int fstat64(int file, struct stat64 *result) { return __fxstat(STAT_VERSION, file, (struct stat *)result); }
int fstatat(int folder, const char *path, struct stat *result, int flags) {
  return __fxstatat(STAT_VERSION, folder, path, result, flags);
}

// 2.30
pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

// 2.36, for std::random_device
uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

// 2.32: whether reference counts need no atomics.
char __libc_single_threaded = 0;

// 2.33
struct mallinfo2 mallinfo2(void) {
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  struct mallinfo old = mallinfo();
  struct mallinfo2 result = {
      .arena = (unsigned)old.arena,
      .ordblks = (unsigned)old.ordblks,
      .smblks = (unsigned)old.smblks,
      .hblks = (unsigned)old.hblks,
      .hblkhd = (unsigned)old.hblkhd,
      .usmblks = (unsigned)old.usmblks,
      .fsmblks = (unsigned)old.fsmblks,
      .uordblks = (unsigned)old.uordblks,
      .fordblks = (unsigned)old.fordblks,
      .keepcost = (unsigned)old.keepcost,
  };
  return result;
}

// 2.30. Where it is missing, a wait ends by the wall clock, as it did in libstdc++ then.
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *end) {
  int (*newer)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *) =
      (__typeof__(newer))dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  if (newer)
    return newer(condition, mutex, clock, end);
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  int64_t nanoseconds = (int64_t)wall.tv_nsec + end->tv_nsec - now.tv_nsec; // within 1e9 below 0 and 2e9
  wall.tv_sec += end->tv_sec - now.tv_sec + (nanoseconds < 0 ? -1 : nanoseconds / 1000000000);
  wall.tv_nsec = (nanoseconds + 1000000000) % 1000000000;
  return pthread_cond_timedwait(condition, mutex, &wall);
}
