#include "tilery/cache.h"
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tilery;

class Cache : public ::testing::Test {
protected:
  std::string base, folder;
  void SetUp() override {
    char name[] = "/tmp/tilery-cache-XXXXXX";
    base = mkdtemp(name);
    folder = base + "/a/b";
  }
  void TearDown() override { EXPECT_EQ(std::system(("rm -rf " + base).c_str()), 0); }
  std::vector<std::string> files(const std::string &where) {
    std::vector<std::string> names;
    if (DIR *dir = opendir(where.c_str())) {
      while (dirent *item = readdir(dir))
        if (std::string(item->d_name) != "." && std::string(item->d_name) != "..")
          names.push_back(item->d_name);
      closedir(dir);
    }
    return names;
  }
  std::string onlyFile() {
    auto names = files(folder);
    EXPECT_EQ(names.size(), 1u);
    return folder + "/" + names.at(0);
  }
};

TEST_F(Cache, KeepsWhatWasPut) {
  std::string key("k\0ey", 4), value("va\0lue\xff", 7);
  {
    DiskCache cache(folder, 1 << 20);
    EXPECT_FALSE(cache.get("code", key));
    EXPECT_TRUE(files(base).empty()); // asking makes no folder
    cache.put("code", key, value);
    EXPECT_EQ(cache.get("code", key), value);
    EXPECT_FALSE(cache.get("manifest", key));
    EXPECT_FALSE(cache.get("code", "key"));
    cache.put("code", key, "");
    EXPECT_EQ(cache.get("code", key), "");
    cache.put("code", key, value);
  }
  DiskCache another(folder, 1 << 20);
  EXPECT_EQ(another.get("code", key), value);
  struct stat status;
  stat(folder.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  stat(onlyFile().c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Cache, DamagedEntriesAreIgnoredAndRewritten) {
  DiskCache cache(folder, 1 << 20);
  std::string value(5000, 'x');
  cache.put("code", "key", value);
  std::string path = onlyFile();
  std::stringstream contents;
  contents << std::ifstream(path).rdbuf();
  std::string whole = contents.str();
  auto replaceWith = [&](const std::string &bytes) { std::ofstream(path, std::ios::trunc) << bytes; };
  for (size_t size : {size_t(0), size_t(5), size_t(24), size_t(100), whole.size() - 1}) {
    replaceWith(whole.substr(0, size));
    EXPECT_FALSE(cache.get("code", "key")) << size;
  }
  for (size_t at : {size_t(0), size_t(7), size_t(9), size_t(17), size_t(24), whole.size() - 1}) {
    std::string flipped = whole;
    flipped[at] ^= 4;
    replaceWith(flipped);
    EXPECT_FALSE(cache.get("code", "key")) << at;
  }
  replaceWith(whole + "x");
  EXPECT_FALSE(cache.get("code", "key"));
  cache.put("code", "key", value);
  EXPECT_EQ(cache.get("code", "key"), value);
}

TEST_F(Cache, LinksAndForeignFilesAreNotRead) {
  DiskCache cache(folder, 1 << 20);
  cache.put("code", "key", "value");
  std::string path = onlyFile();
  std::rename(path.c_str(), (base + "/elsewhere").c_str());
  EXPECT_EQ(symlink((base + "/elsewhere").c_str(), path.c_str()), 0);
  EXPECT_FALSE(cache.get("code", "key"));
  unlink(path.c_str());
  std::rename((base + "/elsewhere").c_str(), path.c_str());
  EXPECT_TRUE(cache.get("code", "key"));
  if (geteuid() == 0) {
    EXPECT_EQ(chown(path.c_str(), 12345, 12345), 0);
    EXPECT_FALSE(cache.get("code", "key"));
    cache.put("code", "key", "mine"); // rewritten
    EXPECT_EQ(cache.get("code", "key"), "mine");
  }
}

static std::string standardError(std::function<void()> action) {
  testing::internal::CaptureStderr();
  action();
  return testing::internal::GetCapturedStderr();
}

TEST_F(Cache, AFolderOfAnotherUserIsNotUsed) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder away";
  DiskCache(folder, 1 << 20).put("code", "key", "value");
  EXPECT_EQ(chown(folder.c_str(), 12345, 12345), 0);
  DiskCache cache(folder, 1 << 20);
  std::string text = standardError([&] {
    EXPECT_FALSE(cache.get("code", "key"));
    cache.put("code", "other", "value");
    EXPECT_FALSE(cache.get("code", "other"));
  });
  EXPECT_EQ(text, "tilery: the cache folder " + folder + " belongs to another user; kernels are compiled anew in each process\n");
  EXPECT_EQ(files(folder).size(), 1u);
}

TEST_F(Cache, AFolderOfSeveralUsersStaysOpen) {
  DiskCache(folder, 1 << 20).put("code", "key", "value");
  chmod(folder.c_str(), 01777); // as /tmp
  DiskCache cache(folder, 1 << 20);
  EXPECT_FALSE(cache.get("code", "key"));
  struct stat status;
  stat(folder.c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 01777u);
}

TEST_F(Cache, AFolderOpenToOthersIsClosed) {
  DiskCache(folder, 1 << 20).put("code", "key", "value");
  chmod(folder.c_str(), 0777);
  DiskCache cache(folder, 1 << 20);
  EXPECT_TRUE(cache.get("code", "key"));
  struct stat status;
  stat(folder.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(Cache, WarnsOnceWhereItCannotWrite) {
  std::ofstream(base + "/file") << "x";
  for (std::string where : {base + "/file", base + "/file/below", std::string("/proc/tilery/cache")}) {
    DiskCache cache(where, 1 << 20);
    std::string text = standardError([&] {
      for (int i = 0; i < 3; ++i) {
        cache.put("code", "key", "value");
        EXPECT_FALSE(cache.get("code", "key"));
      }
    });
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    EXPECT_NE(text.find(where), std::string::npos);
  }
  DiskCache off("", 1 << 20);
  EXPECT_EQ(standardError([&] {
              off.put("code", "key", "value");
              EXPECT_FALSE(off.get("code", "key"));
            }),
            "");
}

TEST_F(Cache, AFullDiskLeavesNothingBehind) {
  // A file size limit stands for the full disk: the write fails half way.
  pid_t child = fork();
  if (child == 0) {
    DiskCache cache(folder, 1 << 20);
    cache.put("code", "small", "value");
    std::string large(1 << 20, 'x');
    signal(SIGXFSZ, SIG_IGN);
    if (std::freopen("/dev/null", "w", stderr) == nullptr)
      _exit(3);
    struct rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    cache.put("code", "large", large);
    bool right = !cache.get("code", "large") && cache.get("code", "small") == "value" && files(folder).size() == 1;
    cache.put("code", "another", "fits");
    _exit(right && cache.get("code", "another") ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Cache, AFolderThatIsDeletedMeanwhileIsMadeAgain) {
  DiskCache cache(folder, 1 << 20);
  cache.put("code", "key", "value");
  std::string text = standardError([&] {
    for (std::string gone : {folder, base + "/a"}) {
      EXPECT_EQ(std::system(("rm -rf " + gone).c_str()), 0);
      EXPECT_FALSE(cache.get("code", "key"));
      cache.put("code", "key", "value");
      EXPECT_EQ(cache.get("code", "key"), "value");
    }
    EXPECT_EQ(std::system(("rm -rf " + folder).c_str()), 0);
    std::ofstream(folder) << "x"; // a file in its place
    cache.put("code", "key", "value");
    cache.put("code", "key", "value");
    EXPECT_FALSE(cache.get("code", "key"));
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(Cache, WhatIsNoFileIsNoEntry) {
  DiskCache cache(folder, 1 << 20);
  cache.put("code", "key", "value");
  std::string path = onlyFile();
  unlink(path.c_str());
  EXPECT_EQ(mkfifo(path.c_str(), 0600), 0); // which nobody writes to
  EXPECT_FALSE(cache.get("code", "key"));
  unlink(path.c_str());
  EXPECT_EQ(mkdir(path.c_str(), 0700), 0);
  EXPECT_FALSE(cache.get("code", "key"));
}

TEST_F(Cache, StaysWithinItsBoundAndDropsWhatWasNotUsed) {
  constexpr uint64_t limit = 64 << 10;
  DiskCache cache(folder, limit);
  std::string value(3000, 'x');
  cache.put("code", "favourite", value);
  for (int i = 0; i < 100; ++i) {
    cache.put("code", "key " + std::to_string(i), value);
    usleep(1000);
    EXPECT_TRUE(cache.get("code", "favourite")) << i;
    EXPECT_TRUE(cache.get("code", "key " + std::to_string(i)));
  }
  EXPECT_FALSE(cache.get("code", "key 0"));
  uint64_t total = 0;
  for (const std::string &name : files(folder)) {
    struct stat status;
    stat((folder + "/" + name).c_str(), &status);
    total += status.st_size;
  }
  EXPECT_LE(total, limit + limit / 8);
  EXPECT_GE(total, limit / 2);
}

TEST_F(Cache, OthersFilesStayAndOldTemporariesGo) {
  mkdir((base + "/a").c_str(), 0700);
  mkdir(folder.c_str(), 0700);
  std::ofstream(folder + "/notes.txt") << std::string(1000, 'x');
  std::ofstream(folder + "/.new-1-1") << "x";
  std::ofstream(folder + "/.new-2-1") << "x";
  timespec old[2] = {{1000, 0}, {1000, 0}};
  utimensat(AT_FDCWD, (folder + "/notes.txt").c_str(), old, 0);
  utimensat(AT_FDCWD, (folder + "/.new-1-1").c_str(), old, 0);
  DiskCache cache(folder, 100);
  cache.put("code", "key", "value");
  EXPECT_EQ(access((folder + "/notes.txt").c_str(), F_OK), 0);
  EXPECT_NE(access((folder + "/.new-1-1").c_str(), F_OK), 0);
  EXPECT_EQ(access((folder + "/.new-2-1").c_str(), F_OK), 0);
}

TEST_F(Cache, ProcessesPutTheSameEntryAtOnce) {
  std::string value(200000, 'y');
  std::vector<pid_t> children;
  for (int process = 0; process < 3; ++process) {
    pid_t child = fork();
    if (child == 0) {
      DiskCache cache(folder, 1 << 24);
      bool right = true;
      for (int i = 0; i < 50; ++i) {
        cache.put("code", "key", value);
        auto found = cache.get("code", "key");
        right &= found && *found == value;
      }
      _exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files(folder).size(), 1u);
}

TEST_F(Cache, AForkWhileAnotherThreadWritesLeavesItUsable) {
  DiskCache cache(folder, 1 << 24);
  std::string value(300000, 'z');
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    while (!stop)
      cache.put("code", "key", value);
  });
  for (int round = 0; round < 10; ++round) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      cache.put("code", "child", value);
      auto found = cache.get("code", "child");
      _exit(found && *found == value ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  writer.join();
}

TEST_F(Cache, ListsAndClearsWhatIsItsOwn) {
  DiskCache cache(folder, 1 << 20);
  EXPECT_TRUE(cache.entries().empty()); // there is no folder
  EXPECT_EQ(cache.clear(), 0u);
  cache.put("code", "a", std::string(100, 'x'));
  cache.put("manifest", "b", "y");
  std::ofstream(folder + "/notes-2026") << "somebody's";
  std::ofstream(folder + "/.new-1-0") << "half of an entry";
  std::ofstream(folder + "/.new-1-1") << "of a process that died";
  timespec old[2] = {{time(nullptr) - 7200, 0}, {time(nullptr) - 7200, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, (folder + "/.new-1-1").c_str(), old, 0), 0);
  std::map<std::string, uint64_t> sizes;
  for (const DiskCache::Entry &entry : cache.entries())
    sizes[entry.kind] += entry.size;
  EXPECT_EQ(sizes, (std::map<std::string, uint64_t>{{"", 38}, {"code", 124}, {"manifest", 25}}));
  EXPECT_EQ(cache.clear(), 3u);
  auto left = files(folder);
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{".new-1-0", "notes-2026"}));
  EXPECT_FALSE(cache.get("code", "a"));
  cache.put("code", "a", "z");
  EXPECT_EQ(cache.get("code", "a"), "z");
}
