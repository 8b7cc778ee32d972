#include "tilery/cache.h"
#include "runtime/fork.h"
#include "runtime/hash.h"
#include "tilery/environment.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tilery {
namespace {
std::mutex cacheMutex; // all caches: disk operations are rare
[[maybe_unused]] const bool forkable = freeAcrossFork<cacheMutex>();
constexpr size_t olderDigits = 64; // entries of versions that named them by SHA-256 are swept, too

struct Header {
  char magic[8] = {'T', 'I', 'L', 'E', 'R', 'Y', 0, 1};
  uint64_t size = 0;
  uint64_t checksum = 0;
};

struct File {
  explicit File(int descriptor) : descriptor(descriptor) {}
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
  File(const File &) = delete;
  explicit operator bool() const { return descriptor >= 0; }
  int descriptor;
};

bool readAll(int descriptor, char *to, size_t size) {
  while (size) {
    ssize_t got = read(descriptor, to, size);
    if (got <= 0 && !(got < 0 && errno == EINTR))
      return false;
    if (got > 0)
      to += got, size -= size_t(got);
  }
  return true;
}

bool writeAll(int descriptor, const char *from, size_t size) {
  while (size) {
    ssize_t put = write(descriptor, from, size);
    if (put < 0 && errno != EINTR)
      return false;
    if (put > 0)
      from += put, size -= size_t(put);
  }
  return true;
}

bool makeFolders(const std::string &folder) {
  for (size_t at = folder.find('/', 1); at != std::string::npos; at = folder.find('/', at + 1))
    mkdir(folder.substr(0, at).c_str(), 0700);
  return mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
}

/// Where the program began: it may go elsewhere before it first compiles.
const std::string &began = *[] {
  char here[PATH_MAX];
  return new std::string(getcwd(here, sizeof here) ? here : ".");
}();

std::string absolute(const std::string &path) { return path.empty() || path[0] == '/' ? path : began + "/" + path; }

std::string defaultFolder() {
  if (auto chosen = environmentText("TILERY_CACHE_DIR"))
    return absolute(*chosen);
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base == '/')
    return std::string(base) + "/tilery";
  const char *home = std::getenv("HOME");
  if (!home || *home != '/') {
    passwd *user = getpwuid(geteuid());
    home = user ? user->pw_dir : nullptr;
  }
  return home ? std::string(home) + "/.cache/tilery" : "";
}
} // namespace

DiskCache::DiskCache(std::string folder, uint64_t limitBytes) : folder_(std::move(folder)), limit(limitBytes) {}

DiskCache &DiskCache::instance() {
  static DiskCache *cache = [] {
    return new DiskCache(defaultFolder(), environmentNumber("TILERY_CACHE_MB").value_or(512) << 20);
  }();
  return *cache;
}

void DiskCache::warn(const std::string &what) {
  if (!std::exchange(warned, true))
    std::fprintf(stderr, "tilery: the cache folder %s %s; kernels are compiled anew in each process\n", folder_.c_str(),
                 what.c_str());
}

std::string DiskCache::path(std::string_view kind, std::string_view key) const {
  return folder_ + "/" + std::string(kind) + "-" + digest(key);
}

/// Code is executed from here: the folder must be this user's alone.
bool DiskCache::trusted() {
  struct stat status;
  if (stat(folder_.c_str(), &status))
    return false;
  if (!S_ISDIR(status.st_mode)) {
    warn("is no folder");
    return false;
  }
  if (status.st_uid != geteuid()) {
    warn("belongs to another user");
    return false;
  }
  if (status.st_mode & S_ISVTX && status.st_mode & 022) { // as /tmp, which must stay so
    warn("is shared by several users (name a folder of your own in it)");
    return false;
  }
  if (status.st_mode & 077 && chmod(folder_.c_str(), 0700) && status.st_mode & 022) { // a read-only disk keeps what it has
    warn("may be changed by other users");
    return false;
  }
  return true;
}

bool DiskCache::ready() {
  if (state != Unknown || folder_.empty())
    return state == Usable;
  struct stat status;
  if (stat(folder_.c_str(), &status)) {
    if (errno == ENOENT)
      return false; // made by the first put
    warn(std::string("cannot be read: ") + std::strerror(errno));
    state = Unusable;
    return false;
  }
  state = trusted() ? Usable : Unusable;
  return state == Usable;
}

std::optional<std::string> DiskCache::get(std::string_view kind, std::string_view key) {
  std::lock_guard lock(cacheMutex);
  if (!ready())
    return {};
  File file(open(path(kind, key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (!file || fstat(file.descriptor, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      status.st_size < off_t(sizeof(Header)))
    return {};
  Header header, expected;
  if (!readAll(file.descriptor, reinterpret_cast<char *>(&header), sizeof header) ||
      std::memcmp(header.magic, expected.magic, sizeof header.magic) || header.size != uint64_t(status.st_size) - sizeof header)
    return {};
  std::string value(header.size, '\0');
  if (!readAll(file.descriptor, value.data(), value.size()) || checksum(value) != header.checksum)
    return {};
  futimens(file.descriptor, nullptr); // used now: the sweep takes what was not for longest
  return value;
}

/// Whether the folder is there and ours, which makes it where there is none.
bool DiskCache::made() {
  if (ready() || state == Unusable || folder_.empty())
    return state == Usable;
  if (makeFolders(folder_))
    return ready();
  warn(std::string("cannot be made: ") + std::strerror(errno));
  state = Unusable;
  return false;
}

/// 0, or what went wrong (errno).
int DiskCache::write(const std::string &target, std::string_view value) {
  static std::atomic<unsigned> counter;
  std::string temporary = folder_ + "/.new-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
  Header header;
  header.size = value.size();
  header.checksum = checksum(value);
  int problem = 0;
  {
    File file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file)
      return errno;
    if (!writeAll(file.descriptor, reinterpret_cast<const char *>(&header), sizeof header) ||
        !writeAll(file.descriptor, value.data(), value.size()))
      problem = errno;
  }
  if (!problem && rename(temporary.c_str(), target.c_str()))
    problem = errno;
  if (problem)
    unlink(temporary.c_str());
  return problem;
}

void DiskCache::put(std::string_view kind, std::string_view key, std::string_view value) {
  std::lock_guard lock(cacheMutex);
  if (!made())
    return;
  int problem = write(path(kind, key), value);
  if (problem == ENOENT) { // somebody has deleted the folder
    state = Unknown;
    if (!made())
      return;
    problem = write(path(kind, key), value);
  }
  if (problem) {
    warn(std::string("cannot be written: ") + std::strerror(problem));
    return;
  }
  uint64_t bytes = value.size() + sizeof(Header);
  if (unswept > limit / 16 || bytes > limit / 16 - unswept)
    sweep();
  else
    unswept += bytes;
}

std::vector<DiskCache::Entry> DiskCache::entries() const {
  std::vector<Entry> found;
  DIR *folder = folder_.empty() ? nullptr : opendir(folder_.c_str());
  if (!folder)
    return found;
  while (dirent *item = readdir(folder)) {
    std::string_view name = item->d_name;
    struct stat status;
    if (fstatat(dirfd(folder), item->d_name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
      continue;
    size_t dash = name.rfind('-');
    bool temporary = name.starts_with(".new-");
    size_t digits = name.size() - dash - 1;
    if (!temporary && (dash == name.npos || (digits != digestDigits && digits != olderDigits)))
      continue; // not an entry of ours: somebody else's file stays
    found.push_back({temporary ? "" : std::string(name.substr(0, dash)), std::string(name), uint64_t(status.st_size),
                     int64_t(status.st_mtim.tv_sec) * 1000000000 + status.st_mtim.tv_nsec});
  }
  closedir(folder);
  return found;
}

bool DiskCache::remove(const Entry &entry) const { return unlink((folder_ + "/" + entry.name).c_str()) == 0; }

/// Is it the part of an entry that a process may still be writing?
static bool isBeingWritten(const DiskCache::Entry &entry) {
  constexpr int64_t hour = int64_t(3600) * 1000000000;
  return entry.kind.empty() && int64_t(time(nullptr)) * 1000000000 - entry.used <= hour;
}

size_t DiskCache::clear() {
  std::lock_guard lock(cacheMutex);
  size_t removed = 0;
  for (const Entry &entry : entries())
    removed += !isBeingWritten(entry) && remove(entry);
  return removed;
}

void DiskCache::sweep() {
  unswept = 0;
  std::vector<Entry> left;
  uint64_t total = 0;
  for (Entry &entry : entries()) {
    if (entry.kind.empty()) {
      if (!isBeingWritten(entry)) // of a process that died
        remove(entry);
      continue;
    }
    total += entry.size;
    left.push_back(std::move(entry));
  }
  if (total <= limit)
    return;
  std::sort(left.begin(), left.end(), [](const Entry &a, const Entry &b) { return a.used < b.used; });
  for (const Entry &entry : left) {
    if (total <= limit / 4 * 3)
      break;
    if (remove(entry))
      total -= entry.size;
  }
}
} // namespace tilery
