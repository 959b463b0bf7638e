// Runs a program, and kills it right after its COUNT-th change of files whose paths begin with PREFIX, before it can make
// another: a file that is opened to be made, or a write to one.
//
// usage: kill-after-change PREFIX COUNT PROGRAM [ARGUMENT...]
//
// Ends with 137 if it killed the program, otherwise with the program's exit code.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what) {
  perror(what);
  exit(70);
}

// Whether the path of the descriptor's file begins with the prefix.
static int is_wanted(const char *prefix, pid_t process, long long descriptor) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/%d/fd/%lld", (int)process, descriptor);
  ssize_t count = readlink(link, path, sizeof path - 1);
  if (count < 0) return 0;
  path[count] = 0;
  return strncmp(path, prefix, strlen(prefix)) == 0;
}

int main(int count, char **words) {
  if (count < 4) return 64;
  const char *prefix = words[1];
  long wanted = atol(words[2]), changes = 0;
  // By thread: the system call that may count, with its descriptor.
  static struct {
    char is_open, is_write;
    long long descriptor;
  } calls[1 << 22];
  int go[2];
  if (pipe(go) != 0) fail("pipe");
  pid_t program = fork();
  if (program < 0) fail("fork");
  if (program == 0) {
    char byte;
    close(go[1]);
    if (read(go[0], &byte, 1) < 0) _exit(70);
    close(go[0]);
    execvp(words[3], words + 3);
    _exit(127);
  }
  if (ptrace(PTRACE_SEIZE, program, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL) != 0)
    fail("ptrace");
  // It runs until here without stops.
  if (ptrace(PTRACE_INTERRUPT, program, 0, 0) != 0) fail("ptrace");
  close(go[0]);
  close(go[1]);
  for (;;) {
    int status;
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) fail("waitpid");
    if (!WIFSTOPPED(status)) {
      if (thread != program) continue;
      if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
      return WEXITSTATUS(status);
    }
    int number = WSTOPSIG(status), passed = 0;
    if (number == (SIGTRAP | 0x80)) {
      struct __ptrace_syscall_info call;
      if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof call, &call) > 0) {
        if (call.op == PTRACE_SYSCALL_INFO_ENTRY) {
          calls[thread].is_open = call.entry.nr == SYS_openat && (call.entry.args[2] & O_CREAT) != 0;
          calls[thread].is_write = call.entry.nr == SYS_write;
          calls[thread].descriptor = (long long)call.entry.args[0];
        } else if (call.op == PTRACE_SYSCALL_INFO_EXIT && call.exit.rval >= 0) {
          int is_change = (calls[thread].is_open && is_wanted(prefix, program, call.exit.rval)) ||
                          (calls[thread].is_write && is_wanted(prefix, program, calls[thread].descriptor));
          if (is_change && ++changes == wanted) kill(program, SIGKILL);
        }
      }
    } else if (status >> 16 == 0) {
      passed = number;
    }
    // It fails if the thread was killed meanwhile.
    ptrace(PTRACE_SYSCALL, thread, 0, passed);
  }
}
