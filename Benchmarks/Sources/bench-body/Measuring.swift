import Glibc

/// How long something took, by the clock on the wall and in processor time, in seconds.
struct Timing {
  let wall: Double
  let cpu: Double

  init(_ work: () throws -> Void) rethrows {
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

/// What of this process is in memory now: the second number of `/proc/self/statm`, in pages.
func residentBytes() throws -> Int {
  let text = String(decoding: try bytes(of: "/proc/self/statm"), as: UTF8.self)
  guard let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
    throw Failure("/proc/self/statm can't be read")
  }
  return pages * sysconf(Int32(_SC_PAGESIZE))
}

struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Writes to standard error. (The C library's `stderr` is a variable, which Swift 6 won't touch.)
func complain(_ text: String) {
  var text = text
  _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
