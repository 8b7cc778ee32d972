#pragma once
// The blocks of a cluster while they run: threads, shared memory, what is under way. Emitted code calls the functions at the end.
#include "fibers.h"
#include "races.h"
#include "shared_memory.h"
#include "tensor_map.h"
#include "tilery/runtime.h"
#include "warp.h"
#include "warpgroup.h"
#include <deque>
#include <map>

namespace tilery::emulator {

/// When asynchronous work happens. Either way it is done when it is waited for, and what comes too early or too late for it is found.
enum class Timing {
  CopiesAtOnce, // the copy engine takes no time; products and stores read what is there when they are waited for
  CopiesLate,   // boxes arrive when nothing else can go on; products and stores read at once
};

struct Block;
struct Cluster;

/// Emitted code reads the first fields.
struct Thread {
  const uint64_t *slots;
  uint32_t grid[3];
  uint32_t number; // in its block
  uint32_t block, blocks;
  uint32_t rank; // of the block in its cluster
  char *shared, *workspace, *reports;
  TensorMap *maps;
  const char *functions; // the first of those below, from which code finds the others

  Block *home = nullptr;
  const char *role = "thread";
  unsigned registers = 0;
  struct Copy {
    char *to;
    const char *from;
    uint32_t bytes; // of 16; the others become zero
    void make() const;
  };
  std::deque<std::vector<Copy>> copies{1}; // groups of cp.async, the last one not yet committed
  struct Store {
    uint32_t address, bytes;
    std::function<void()> read, write;
    bool hasRead = false;
  };
  std::deque<std::vector<Store>> stores{1}; // groups, likewise
  uint64_t productGroups = 0;               // committed
  bool fenced = false;                      // registers are in order before products

  Clock clock;
  /// What works for it: copies of cp.async, stores that read shared memory. Their times are those of groups.
  struct Engine {
    uint32_t agent = 0;
    uint32_t now = 1;
    std::deque<uint32_t> groups; // the last moment of each that is not known to be over
  } copier, storer;
};

/// Threads that do something together: the last one that comes does it for all.
struct Meeting {
  unsigned come = 0;
  uint64_t times = 0;
  const char *what = nullptr;
  void *operands[128] = {};
};

struct NamedBarrier {
  unsigned come = 0, expected = 0;
  uint64_t times = 0;
  Channel channel;
  std::vector<Thread *> waiting; // they get to know what all that have come knew
};

struct Block {
  Cluster *cluster = nullptr;
  unsigned rank = 0;
  std::vector<Thread> threads;
  SharedMemory shared;
  std::map<std::pair<unsigned, uint32_t>, Meeting> warps; // by warp and its threads that take part
  std::vector<Warpgroup> warpgroups;
  NamedBarrier named[16];
  int64_t freeRegisters = 0;
};

/// A box or bytes on their way.
struct Arrival {
  Block *block;
  uint32_t address, bytes, barrier;
  std::function<void(char *to)> bring;
  Thread *copier = nullptr; // whose cp.async arrive at the barrier; null: its bytes are counted
};

struct Cluster {
  Timing timing = Timing::CopiesAtOnce;
  std::vector<Block> blocks;
  std::vector<Arrival> arrivals;
  std::map<const char *, TensorMap> maps; // that threads have made, by their place
  NamedBarrier all;
  Known met;            // of all threads, when they last met
  bool watches = false; // for races
  Races races;
  unsigned ended = 0; // threads
  Fibers *fibers = nullptr;

  void wait(llvm::function_ref<bool()> over, llvm::function_ref<std::string()> what) { fibers->wait(over, what); }
  [[noreturn]] void fail(const Thread &thread, const std::string &what);
  /// Lets something arrive, if anything is on its way.
  bool land();
  /// Who waits for what.
  std::string deadlock() const;
};

/// "consumer, thread 128" (of block 1).
std::string nameOf(const Thread &thread);
/// The block and the place in its shared memory that an address names; it fails where there are not `bytes` from there on.
std::pair<Block *, uint32_t> placeOf(Thread &thread, uint32_t address, uint32_t bytes);
/// Runs `work` once for `expected` threads, each of which gives its `operand`.
void together(Thread &thread, Meeting &meeting, unsigned index, unsigned expected, const char *what, void *operand,
              llvm::function_ref<void(void **operands)> work);
/// An access of shared memory, or of other memory, that must be ordered with those before it; it fails where it is not.
void touchShared(Thread &thread, Block &block, uint32_t place, uint32_t bytes, const Access &access, const Viewers &viewers);
void touch(Thread &thread, const char *pointer, uint32_t bytes, const Access &access);
Viewers only(const Thread &thread);
/// The engine's agent, made when it is first used.
uint32_t agentOf(Thread &thread, Thread::Engine &engine, const char *name);
/// What must be true when a thread ends.
void finish(Thread &thread);

// -- threads (threads.cpp)
void barrier(Thread *thread);
void namedBarrier(Thread *thread, uint32_t id, uint32_t threads);
void arriveNamed(Thread *thread, uint32_t id, uint32_t threads);
void warpBarrier(Thread *thread, uint32_t mask);
uint32_t shuffle(Thread *thread, uint32_t value, uint32_t lane, uint32_t mask); // lane from 32 on: the own value
void setRegisters(Thread *thread, uint32_t count, uint32_t more);
void setRole(Thread *thread, const char *role);
void clusterBarrier(Thread *thread);
uint32_t peerAddress(Thread *thread, uint32_t address, uint32_t rank);
void warpOperation(Thread *thread, WarpOperation *operation);
void loadShared(Thread *thread, uint32_t address, void *to, uint32_t bytes, uint32_t peer);
void storeShared(Thread *thread, uint32_t address, const void *from, uint32_t bytes, uint32_t peer);

// -- barriers in shared memory (barriers.cpp)
void initBarrier(Thread *thread, uint32_t barrier, uint32_t arrivals);
void fenceBarrierInit(Thread *thread);
void arrive(Thread *thread, uint32_t barrier, uint32_t peer);
void arriveExpect(Thread *thread, uint32_t barrier, uint32_t bytes);
void expectBytes(Thread *thread, uint32_t barrier, uint32_t bytes);
void waitBarrier(Thread *thread, uint32_t barrier, uint32_t parity);
/// Something that `thread` began has ended, and arrives.
void arriveLate(Thread &thread, Block &block, uint32_t barrier);
/// Bytes have come; `who` started them.
void credit(Block &block, uint32_t barrier, uint32_t bytes);

// -- the copy engine (copies.cpp)
/// `numbers`: so many extents, then strides in bytes of all dimensions but the innermost.
void makeMap(Thread *thread, char *place, const TensorMap *map, char *base, const int64_t *numbers, uint32_t rank);
void loadBox(Thread *thread, uint32_t shared, const TensorMap *map, const int32_t *coordinates, uint32_t count, uint32_t barrier);
void loadBytes(Thread *thread, uint32_t shared, const char *global, uint32_t bytes, uint32_t barrier);
void storeBox(Thread *thread, const TensorMap *map, const int32_t *coordinates, uint32_t count, uint32_t shared, uint32_t add);
void storeBytes(Thread *thread, char *global, uint32_t shared, uint32_t bytes);
void commitStores(Thread *thread);
void waitStores(Thread *thread, uint32_t read, uint32_t pending);
void fenceProxy(Thread *thread);
void copyAsync(Thread *thread, char *to, const char *from, uint32_t bytes);
void commitCopies(Thread *thread);
void arriveCopies(Thread *thread, uint32_t barrier);
void waitCopies(Thread *thread, uint32_t pending);

// -- products of a warpgroup (warpgroup.cpp)
void wgmmaFence(Thread *thread);
void wgmma(Thread *thread, WarpgroupOperation *operation);
void wgmmaCommit(Thread *thread);
void wgmmaWait(Thread *thread, uint32_t pending, uint32_t *values, uint32_t count);

} // namespace tilery::emulator
