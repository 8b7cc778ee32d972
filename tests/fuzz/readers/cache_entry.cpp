// Files of the disk cache.
#include "tests/fuzz/readers/reader.h"
#include "tilery/cache.h"
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

using namespace tilery;

namespace {
/// A cache of one entry. It lies in memory where there is a file system in memory: nothing else is as quick.
struct One {
  One() {
    cache.put("code", "key", "value");
    DIR *listed = opendir(folder.c_str());
    while (dirent *item = readdir(listed))
      if (item->d_name[0] != '.')
        path = folder + "/" + item->d_name;
    closedir(listed);
  }
  ~One() {
    unlink(path.c_str());
    rmdir(folder.c_str());
  }
  static std::string made() {
    std::string name = access("/dev/shm", W_OK) ? "/tmp/tilery-cache-XXXXXX" : "/dev/shm/tilery-cache-XXXXXX";
    return mkdtemp(name.data()) ? name : std::string();
  }
  std::string folder = made(), path;
  DiskCache cache{folder, 1 << 20};
};
One &one() {
  static One instance;
  return instance;
}
} // namespace

std::vector<std::string> readers::seeds() {
  std::vector<std::string> all;
  for (size_t size : {0, 5, 300}) {
    one().cache.put("code", "key", std::string(size, 'x'));
    std::string bytes(size + 24, '\0');
    int file = open(one().path.c_str(), O_RDONLY);
    bytes.resize(size_t(std::max<ssize_t>(::read(file, bytes.data(), bytes.size()), 0)));
    close(file);
    all.push_back(bytes);
  }
  return all;
}

void readers::read(std::string_view bytes) {
  int file = open(one().path.c_str(), O_WRONLY | O_TRUNC);
  if (write(file, bytes.data(), bytes.size()) != ssize_t(bytes.size()))
    defect("the file was not written");
  close(file);
  auto value = one().cache.get("code", "key");
  if (value && (bytes.size() < value->size() || bytes.substr(bytes.size() - value->size()) != *value))
    defect("the cache gives what it does not hold");
}
