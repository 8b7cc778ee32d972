#pragma once
// Finds accesses of the same memory that nothing orders, whatever the order they came in: each piece of memory knows who last wrote and read
// it, and when, as its agent counts (clocks.h).
#include "clocks.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

namespace tilery::emulator {

enum class Act : uint8_t {
  Loads,
  Looks, // atomically, as what waits for others does
  Stores,
  Updates,   // atomically
  Copies,    // cp.async, which is a thread's work, but done later
  Brings,    // the copy engine, to shared memory
  TakesAway, // the copy engine, from shared memory
  Multiplies,
};

/// Those who must know of what was before: the threads that begin an access. Of many who know the same, two are enough: each sees what it did
/// itself.
class Viewers {
public:
  void add(const Clock &clock);
  bool see(Moment moment) const;
  bool show(Moment moment) const;

private:
  llvm::SmallVector<const Clock *, 2> clocks;
};

struct Access {
  Moment when;
  Act act = Act::Loads;
  uint32_t line = 0; // of the source; 0: unknown

  bool isSame = false; // what is there already
  bool writes() const { return act == Act::Stores || act == Act::Updates || act == Act::Copies || act == Act::Brings; }
  bool isAtomic() const { return act == Act::Updates || act == Act::Looks; }
  bool isAsync() const { return act == Act::Brings || act == Act::TakesAway || act == Act::Multiplies; }
};

/// What went before and is not ordered with an access, or (`unshown`) was not fenced for it.
struct Conflict {
  Access before;
  bool unshown = false;
};

class Shadow {
public:
  /// `bytes` from `place` on are accessed.
  std::optional<Conflict> touch(uint64_t place, uint32_t bytes, const Access &access, const Viewers &viewers);

private:
  static constexpr uint32_t pieceBytes = 16, pagePieces = 64;
  struct Cell {
    explicit Cell(const Access &written = {}) : written(written) {}
    Access written;                                 // time 0: nobody
    Access since;                                   // a read or an atomic update, since then
    std::unique_ptr<std::vector<Access>> manySince; // instead, where nothing orders them: by agent
    std::unique_ptr<std::vector<Access>> alike;     // others that have written the same without order, so that either will do
    bool isUpdated = false;                         // atomically, since then
    std::optional<Conflict> touch(const Access &access, const Viewers &viewers);
    void note(const Access &access, const Viewers &viewers);
    void copyTo(Cell &other) const;
  };
  struct Piece {
    uint32_t unit = pieceBytes;
    Cell whole;
    std::unique_ptr<Cell[]> parts; // of fewer bytes
    void split(uint32_t to);
  };
  using Page = std::array<Piece, pagePieces>;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  Page *last = nullptr;
  uint64_t lastNumber = 0;
};

/// Agents and what they do with the memory of a cluster's blocks.
class Races {
public:
  /// `name` is asked for a report.
  uint32_t newAgent(std::function<std::string()> name);
  std::string nameOf(uint32_t agent) const { return names[agent](); }

  KnownCache cache;
  Shadow global;

private:
  std::vector<std::function<std::string()>> names{[] { return std::string("nobody"); }};
};

/// "writes".
const char *nameOf(Act act);

} // namespace tilery::emulator
