// Linux's system calls that Swift's Glibc doesn't have, and one setting of the C library. Only Internals/Syscalls.swift of
// FormStreamMultipart and FormStreamCommand and the folder Internals of FormStreamNet use them.
//
// This includes headers of the kernel alone, which define no types: a type of the C library must stay one of Swift's own
// module for it.
#ifndef FORMSTREAM_CSYSTEM_H
#define FORMSTREAM_CSYSTEM_H

#include <asm/unistd.h>
#include <linux/magic.h>

extern long syscall(long number, ...);
extern int mallopt(int setting, int value);

// All threads take memory from one place: glibc otherwise reserves 64 MiB of addresses for each of them, and often 128.
static inline void formstream_share_memory_between_threads(void) {
  const int maximum_arenas = -8;
  mallopt(maximum_arenas, 1);
}

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

// Opens a path without waiting, for a look at its status alone: a negative number if not all of it is in the system's
// cache, or if the kernel is older than 5.12. `flags` are those of `open`.
static inline long formstream_open_cached(const char *path, int flags) {
  const int current_directory = -100, path_only = 010000000;
  // RESOLVE_CACHED
  unsigned long long how[3] = {(unsigned)(flags | path_only), 0, 0x20};
  return syscall(__NR_openat2, (long)current_directory, path, how, sizeof how);
}

// What statx says of an open file without asking another machine or program.
struct formstream_cached_status {
  unsigned int mask, block_size;
  unsigned long long attributes;
  unsigned int links, user, group;
  unsigned short mode, spare;
  unsigned long long inode, size, blocks, attributes_mask;
  struct {
    long long seconds;
    unsigned int nanoseconds;
    int spare;
  } accessed, created, changed, modified;
  unsigned int special_major, special_minor, device_major, device_minor;
  unsigned long long rest[14];
};

// Returns 0 if it has filled `status`.
static inline long formstream_read_cached_status(int descriptor, struct formstream_cached_status *status) {
  const int empty_path = 0x1000, no_synchronization = 0x4000, basic = 0x7ff;
  return syscall(__NR_statx, (long)descriptor, "", (long)(empty_path | no_synchronization), (long)basic, status);
}

// The number that names the type of a path's file system; a negative number if it can't be found out.
static inline long formstream_file_system_type(const char *path) {
  // struct statfs, which begins with the type and has less than half of this size.
  long status[64];
  return syscall(__NR_statfs, path, status) == 0 ? status[0] : -1;
}

// openat2 for a path that must not lead out of its directory: neither by "..", nor by a symbolic link. If links are not
// followed, a link anywhere on the path is an error.
static inline long formstream_open_beneath(
    int directory, const char *path, unsigned long long flags, int follows_links) {
  struct {
    unsigned long long flags;
    unsigned long long mode;
    unsigned long long resolve;
  } how = {flags, 0, 0x02 | 0x08 | (follows_links ? 0 : 0x04)};  // RESOLVE_NO_MAGICLINKS, BENEATH, NO_SYMLINKS
  return syscall(437, directory, path, &how, sizeof how);
}

// formstream_file_system_type for an open descriptor.
static inline long formstream_file_system_type_of(int descriptor) {
  long status[64];
  return syscall(__NR_fstatfs, descriptor, status) == 0 ? status[0] : -1;
}

// epoll_create1 with EPOLL_CLOEXEC.
static inline int formstream_open_epoll(void) { return (int)syscall(__NR_epoll_create1, (long)02000000); }

// eventfd2 with EFD_CLOEXEC and EFD_NONBLOCK.
static inline int formstream_open_event(void) { return (int)syscall(__NR_eventfd2, 0L, (long)(02000000 | 04000)); }

// What has become possible on a descriptor, and the number that it was added with. The kernel's own struct is packed on some
// machines, and Swift doesn't know packed structs.
struct formstream_event {
  unsigned int events;
  unsigned long long token;
};

#if defined(__x86_64__)
#define FORMSTREAM_EVENT_PACKED __attribute__((packed))
#else
#define FORMSTREAM_EVENT_PACKED
#endif
struct formstream_kernel_event {
  unsigned int events;
  unsigned long long token;
} FORMSTREAM_EVENT_PACKED;

// epoll_ctl(EPOLL_CTL_ADD)
static inline int formstream_add_to_epoll(int epoll, int descriptor, unsigned int events, unsigned long long token) {
  struct formstream_kernel_event event = {events, token};
  return (int)syscall(__NR_epoll_ctl, (long)epoll, 1L, (long)descriptor, &event);
}

// epoll_wait for at most 128 events.
static inline int formstream_wait_for_epoll(int epoll, struct formstream_event *found, int capacity, int milliseconds) {
  struct formstream_kernel_event events[128];
  const int most = capacity < 128 ? capacity : 128;
  const int count = (int)syscall(
      __NR_epoll_pwait, (long)epoll, events, (long)most, (long)milliseconds, (void *)0, 8L);
  for (int index = 0; index < count; index++) {
    found[index].events = events[index].events;
    found[index].token = events[index].token;
  }
  return count;
}

// accept4 with SOCK_CLOEXEC and SOCK_NONBLOCK. `address` has room for `*size` bytes.
static inline int formstream_accept_connection(int listener, void *address, unsigned int *size) {
  return (int)syscall(__NR_accept4, (long)listener, address, size, (long)(02000000 | 04000));
}

#endif
