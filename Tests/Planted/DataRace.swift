// A planted fault: two threads, one number and no lock. The thread sanitizer must report it.

import Glibc

nonisolated(unsafe) let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
counter.initialize(to: 0)

// New threads: a pool might run both functions on the same thread, which is not a race.
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
