import Foundation

/// The system calls that a traced program made on some files, from the output of `strace -f -a 1`.
public struct SystemCallTrace {
  /// The sizes that `read` and `pread64` asked for.
  public private(set) var readSizes: [Int] = []
  /// The largest number of those files that were open at the same time.
  public private(set) var mostOpen = 0
  /// How many times a file was opened.
  public private(set) var opens = 0
  /// The files that were never closed.
  public private(set) var leftOpen: [String] = []
  /// The flags of each `openat`.
  public private(set) var flags: [String] = []

  /// Reads the calls on `files`. A call must be on one line of the trace: the traced program works on one thread.
  public init(_ text: String, files: [String]) {
    var open: [String: String] = [:]
    for line in text.split(separator: "\n") {
      // [pid 12] openat(AT_FDCWD, "/f", O_RDONLY|O_CLOEXEC) = 3
      guard let call = line.firstIndex(of: "("), let equals = line.range(of: ") = ") else {
        continue
      }
      let name = line[..<call].split(separator: " ").last.map(String.init) ?? ""
      let given = line[line.index(after: call)..<equals.lowerBound]
        .split(separator: ", ").map(String.init)
      let result = line[equals.upperBound...].split(separator: " ").first.map(String.init) ?? ""
      switch name {
      case "openat":
        guard given.count >= 3, Int(result) ?? -1 >= 0,
          files.contains(where: { "\"\($0)\"" == given[1] })
        else { continue }
        open[result] = given[1]
        opens += 1
        flags.append(given[2])
        mostOpen = max(mostOpen, open.count)
      case "pread64":
        if open[given[0]] != nil, given.count >= 3 {
          readSizes.append(Int(given[given.count - 2]) ?? -1)
        }
      case "read":
        if open[given[0]] != nil, given.count >= 2 {
          readSizes.append(Int(given[given.count - 1]) ?? -1)
        }
      case "close":
        open[given[0]] = nil
      default:
        continue
      }
    }
    leftOpen = Array(open.values)
  }
}
