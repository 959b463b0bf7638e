// A fault on purpose: two threads, one number and no lock. The thread sanitizer must report it.

import Glibc

nonisolated(unsafe) let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
counter.initialize(to: 0)

// Threads of their own: one that a pool lends may do the work of both, and that is no race.
var threads = [pthread_t](repeating: 0, count: 2)
for index in threads.indices {
  pthread_create(
    &threads[index], nil,
    { _ in
      for _ in 0..<10_000 { counter.pointee += 1 }
      return nil
    }, nil)
}
for thread in threads { pthread_join(thread, nil) }
print(counter.pointee)
