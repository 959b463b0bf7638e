// What the system says about the memory and the time of processes and of the machine.

import FormStreamMultipart
import FormStreamPlatform
import Glibc

/// The memory of a process, in bytes.
struct ProcessMemory {
  /// What is in memory, with files that are mapped.
  var resident: Int64 = 0
  /// The most that has been resident.
  var peak: Int64 = 0
  /// What the program has allocated itself.
  var anonymous: Int64 = 0

  /// - Parameter process: its number, or `self`.
  ///
  /// C: `open`, `read`
  init?(of process: String) {
    guard let status = try? contents(of: LocalPath(bytes: Array("/proc/\(process)/status".utf8)), upTo: 65536)
    else { return nil }
    for line in status.split(separator: UInt8(ascii: "\n")) {
      let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      guard words.count == 3, let kibibytes = Int64(words[1]) else { continue }
      switch words[0] {
      case "VmRSS:": resident = kibibytes * 1024
      case "VmHWM:": peak = kibibytes * 1024
      case "RssAnon:": anonymous = kibibytes * 1024
      default: break
      }
    }
    // A process that has ended and was not waited for has no memory.
    guard peak > 0 else { return nil }
  }
}

/// How long all processors of the machine have worked, and how long they could have, in ticks; nil if it is not known.
///
/// C: `open`, `read`
func processorTicks() -> (busy: Int, all: Int)? {
  guard let text = try? contents(of: "/proc/stat", upTo: 1 << 20) else { return nil }
  let numbers = text.prefix { $0 != UInt8(ascii: "\n") }.split(separator: UInt8(ascii: " ")).dropFirst().prefix(8)
    .map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 }
  guard numbers.count >= 5 else { return nil }
  let all = numbers.reduce(0, +)
  // The fourth and the fifth are idle, and idle while something waits for a disk.
  return (all - numbers[3] - numbers[4], all)
}

/// The processor time of this process.
///
/// C: `getrusage`
func ownProcessorTime() -> Duration {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return Duration(usage.ru_utime) + Duration(usage.ru_stime)
}

/// How many bytes of memory the system could give to programs; nil if it is not known.
///
/// C: `open`, `read`
func availableMemory() -> Int64? {
  guard let text = try? contents(of: "/proc/meminfo", upTo: 1 << 16) else { return nil }
  for line in text.split(separator: UInt8(ascii: "\n")) {
    let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    if words.count == 3, words[0] == "MemAvailable:" { return Int64(words[1]).map { $0 * 1024 } }
  }
  return nil
}

extension Duration {
  init(_ time: timeval) {
    self = .seconds(time.tv_sec) + .microseconds(Int64(time.tv_usec))
  }
}
