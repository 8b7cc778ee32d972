#include "remote.h"
#include "tilery/bundle.h"
#include "tilery/diagnostic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <csignal>
#include <cstdlib>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilery::fuzz {
namespace {

class Remote {
public:
  Remote() {
    int down[2], up[2];
    if (pipe(down) || pipe(up))
      throw Error({Diagnostic::Kind::Runtime, "no pipes", "", {}});
    llvm::SmallVector<llvm::StringRef> words;
    llvm::StringRef(remoteCommand).split(words, ' ', -1, false);
    std::vector<std::string> copies;
    for (llvm::StringRef word : words)
      copies.push_back(word.str());
    std::vector<char *> arguments;
    for (std::string &word : copies)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, down[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, up[1], STDOUT_FILENO);
    for (int end : {down[0], down[1], up[0], up[1]})
      posix_spawn_file_actions_addclose(&actions, end);
    int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(down[0]), close(up[1]);
    to = down[1], from = up[0];
    if (failed)
      throw Error({Diagnostic::Kind::Runtime, "cannot start " + remoteCommand, "", {}});
    signal(SIGPIPE, SIG_IGN);
  }
  ~Remote() {
    close(to), close(from);
    kill(child, SIGKILL); // it may be in a program that does not end
    waitpid(child, nullptr, 0);
  }

  /// Whether a process started it that has forked since: two would mix what they ask.
  bool isOthers() const { return owner != getpid(); }

  void say(const void *data, size_t bytes) {
    const auto *at = static_cast<const char *>(data);
    request.insert(request.end(), at, at + bytes);
  }
  void say(uint64_t number) { say(&number, sizeof number); }
  /// False: the process has ended.
  bool send() {
    for (size_t at = 0; at < request.size();) {
      ssize_t count = write(to, request.data() + at, request.size() - at);
      if (count <= 0)
        return false;
      at += size_t(count);
    }
    request.clear();
    return true;
  }
  bool take(void *data, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
      ssize_t count = read(from, static_cast<char *>(data) + at, bytes - at);
      if (count <= 0)
        return false;
      at += size_t(count);
    }
    return true;
  }

private:
  const pid_t owner = getpid();
  pid_t child = -1;
  int to = -1, from = -1;
  std::vector<char> request;
};

std::unique_ptr<Remote> remote;

std::string bundleOf(CodeImage image, bool disjoint) {
  BundleEntry entry;
  entry.name = "program";
  entry.takesGrid = true;
  for (ArgInfo &info : image.kernels.at(0).args) {
    info.name = "a" + std::to_string(entry.parameters.size()); // generated ones have no names, by which bundles know them
    entry.parameters.push_back({info.name, info.dtype, info.pointer ? 0 : -1, false, info.dtype});
  }
  BundleVariant &variant = entry.variants.emplace_back();
  if (disjoint)
    variant.conditions.push_back({BundleCondition::Disjoint});
  variant.image = serialize(image);
  return serialize(std::vector<BundleEntry>{entry});
}

std::string ended() {
  remote.reset();
  return "the process that ran it has ended";
}
} // namespace

std::string runRemotely(const Program &program, const CodeImage &image, bool disjoint,
                        std::vector<std::vector<uint8_t>> &arrays) {
  if (remote && remote->isOthers())
    (void)remote.release();
  if (!remote)
    remote = std::make_unique<Remote>();
  Remote &r = *remote;
  std::string bundle = bundleOf(image, disjoint);
  r.say(bundle.size());
  r.say(bundle.data(), bundle.size());
  r.say(uint64_t(0));
  for (uint32_t extent : program.grid)
    r.say(uint64_t(extent));
  r.say(uint64_t(llvm::count_if(arrays, [](const auto &array) { return !array.empty(); })));
  for (const std::vector<uint8_t> &array : arrays)
    if (!array.empty()) {
      r.say(uint64_t(0)); // at a multiple of 64
      r.say(array.size());
      r.say(array.data(), array.size());
    }
  r.say(arrays.size());
  uint64_t memory = 0;
  for (size_t i = 0; i < arrays.size(); ++i)
    if (arrays[i].empty()) {
      r.say(~uint64_t(0)); // a number
      r.say(program.args[i].scalar);
    } else {
      r.say(uint64_t(0)); // a tensor of rank 0
      r.say(memory++);
      r.say(uint64_t(guardBytes));
    }
  uint64_t length = 0;
  if (!r.send() || !r.take(&length, sizeof length) || length > 1 << 20)
    return ended();
  std::string message(length, ' ');
  if (!r.take(message.data(), length))
    return ended();
  for (std::vector<uint8_t> &array : arrays)
    if (!array.empty() && !r.take(array.data(), array.size()))
      return ended();
  return message;
}

} // namespace tilery::fuzz
