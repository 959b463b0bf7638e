import Glibc

/// The seconds that something took, in wall-clock time and in processor time.
package struct Timing {
  package let wall: Double
  package let cpu: Double

  package init(_ work: () throws -> Void) rethrows {
    let (wall, cpu) = (Self.now(CLOCK_MONOTONIC), Self.now(CLOCK_PROCESS_CPUTIME_ID))
    try work()
    self.wall = Self.now(CLOCK_MONOTONIC) - wall
    self.cpu = Self.now(CLOCK_PROCESS_CPUTIME_ID) - cpu
  }

  private static func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

package struct Failure: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// Writes to standard error. (The C library's `stderr` is a variable, which Swift 6 does not allow.)
package func complain(_ text: String) {
  var text = text
  _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
