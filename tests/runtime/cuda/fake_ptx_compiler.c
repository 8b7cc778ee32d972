// A libnvidia-ptxjitcompiler.so.1 that compiles nothing: it remembers what it was asked, and refuses or complains as told.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static int compiled, open_handles, result, once;
static char asked[256];
static const char *info = "", *error = "";

// What tests ask and tell.
EXPORT int fake_compiled(void) { return compiled; }
EXPORT int fake_open(void) { return open_handles; }
EXPORT const char *fake_options(void) { return asked; }
EXPORT void fake_refuse(int code, const char *text) { result = code, error = text; }
EXPORT void fake_info(const char *text) { info = text; }
EXPORT void fake_info_once(const char *text) { info = text, once = 1; }

typedef struct CompilerTag *Handle;
#define F(name, ...) EXPORT int name(__VA_ARGS__)
F(nvPTXCompilerCreate, Handle *handle, size_t size, const char *ptx) {
  if (strlen(ptx) != size)
    return 2;
  ++open_handles;
  *handle = (Handle)&asked;
  return 0;
}
F(nvPTXCompilerDestroy, Handle *handle) {
  --open_handles;
  *handle = NULL;
  return 0;
}
F(nvPTXCompilerCompile, Handle handle, int count, const char *const *options) {
  ++compiled;
  asked[0] = 0;
  for (int i = 0; i < count; ++i)
    snprintf(asked + strlen(asked), sizeof asked - strlen(asked), "%s%s", i ? " " : "", options[i]);
  return result;
}
static const char code[] = "\177ELF of no meaning";
F(nvPTXCompilerGetCompiledProgramSize, Handle handle, size_t *size) { return *size = sizeof code, 0; }
F(nvPTXCompilerGetCompiledProgram, Handle handle, void *to) { return memcpy(to, code, sizeof code), 0; }
F(nvPTXCompilerGetInfoLogSize, Handle handle, size_t *size) { return *size = strlen(info), 0; }
F(nvPTXCompilerGetInfoLog, Handle handle, char *to) {
  strcpy(to, info);
  if (once)
    info = "";
  return 0;
}
F(nvPTXCompilerGetErrorLogSize, Handle handle, size_t *size) { return *size = strlen(error), 0; }
F(nvPTXCompilerGetErrorLog, Handle handle, char *to) { return strcpy(to, error), 0; }
