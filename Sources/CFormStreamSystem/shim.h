// Linux's system calls that Swift's Glibc doesn't have. Only FormStreamMultipart/Internals/Syscalls.swift uses them.
//
// This includes headers of the kernel alone, which define no types: a type of the C library must stay one of Swift's own
// module for it.
#ifndef FORMSTREAM_CSYSTEM_H
#define FORMSTREAM_CSYSTEM_H

#include <asm/unistd.h>
#include <linux/magic.h>

extern long syscall(long number, ...);

// preadv2 with RWF_NOWAIT: reads what is in the system's cache, without waiting for the disk.
static inline long formstream_read_cached(int descriptor, void *buffer, unsigned long count, long long offset) {
  struct {
    void *start;
    unsigned long count;
  } piece = {buffer, count};
  const int no_wait = 8;
  // The offset is passed in two halves, of which 64-bit systems use the first alone.
  return syscall(__NR_preadv2, descriptor, &piece, 1L, (long)offset, (long)((unsigned long long)offset >> 32), no_wait);
}

// The number that names the type of a path's file system; a negative number if it can't be found out.
static inline long formstream_file_system_type(const char *path) {
  // struct statfs, which begins with the type and has less than half of this size.
  long status[64];
  return syscall(__NR_statfs, path, status) == 0 ? status[0] : -1;
}

#endif
