#pragma once
// Compiled code on disk, shared by processes. Trouble with the disk never fails a program: it costs compile time and one warning.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// 16 hex digits that change with every build of the library: part of every key.
std::string buildId();

class DiskCache {
public:
  /// A file of the cache; somebody else's in the same folder are none.
  struct Entry {
    std::string kind; ///< of `put`; empty: the part of an entry that a process is writing, or died over
    std::string name;
    uint64_t size = 0;
    int64_t used = 0; ///< nanoseconds since 1970
  };

  /// `folder` is made (mode 0700) by the first put. An empty folder turns the cache off.
  DiskCache(std::string folder, uint64_t limitBytes);
  /// In TILERY_CACHE_DIR, else $XDG_CACHE_HOME/tilery, else ~/.cache/tilery; TILERY_CACHE_DIR="" turns it off.
  /// TILERY_CACHE_MB bounds it (default 512).
  static DiskCache &instance();

  /// What was put under this kind ("code", "manifest", ...) and key, unless it was dropped, is damaged or belongs to another
  /// user. Keys are any bytes; they are hashed.
  std::optional<std::string> get(std::string_view kind, std::string_view key);
  /// Replaces the entry in one step: readers see the old or the new one.
  void put(std::string_view kind, std::string_view key, std::string_view value);
  const std::string &folder() const { return folder_; }
  uint64_t limitBytes() const { return limit; }
  /// What lies in the folder, in no order. Nothing where there is none.
  std::vector<Entry> entries() const;
  /// Takes all entries away, those that other processes write just now excepted; returns how many there were.
  size_t clear();

private:
  std::string path(std::string_view kind, std::string_view key) const;
  bool ready();
  bool made();
  int write(const std::string &target, std::string_view value);
  bool trusted();
  void sweep();
  bool remove(const Entry &entry) const;
  void warn(const std::string &what);

  std::string folder_;
  uint64_t limit;
  uint64_t unswept = ~uint64_t(0); ///< bytes put since the last look at the folder's size; first put: look
  enum { Unknown, Usable, Unusable } state = Unknown;
  bool warned = false;
};

} // namespace tilery
#pragma GCC visibility pop
