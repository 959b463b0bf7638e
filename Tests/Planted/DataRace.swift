// A fault on purpose: two threads, one number and no lock. The thread sanitizer must report it.

import Dispatch

final class Counter: @unchecked Sendable {
  var value = 0
}

let counter = Counter()
DispatchQueue.concurrentPerform(iterations: 2) { _ in
  for _ in 0..<10_000 { counter.value += 1 }
}
print(counter.value)
