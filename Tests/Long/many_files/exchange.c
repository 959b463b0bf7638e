// Exchanges two paths again and again until standard input ends, and prints how often.
//
// usage: exchange PATH PATH
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **words) {
  if (count != 3) return 64;
  struct pollfd input = {.fd = 0, .events = POLLIN};
  long exchanges = 0;
  // An even number, so that both are where they were.
  while (exchanges % 2 != 0 || poll(&input, 1, 0) == 0) {
    if (syscall(SYS_renameat2, AT_FDCWD, words[1], AT_FDCWD, words[2], 2 /* RENAME_EXCHANGE */) != 0) {
      perror("renameat2");
      return 74;
    }
    exchanges++;
  }
  printf("%ld\n", exchanges);
  return 0;
}
