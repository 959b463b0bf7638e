import FormStreamMultipart
import FormStreamPlatform

/// Sorts lines by keys, in bounded memory. Lines that don't fit into memory are sorted in runs. The runs are written to
/// files without names, and merged at the end. Lines with equal keys keep their order.
final class ExternalSorter {
  struct Entry {
    let key: [UInt8]
    let line: [UInt8]
  }

  /// How many runs are merged into one. Each run takes a descriptor, and some memory while it is merged. Few descriptors may be
  /// left: a level has at most one run less, so 8 GiB of lines in runs of 32 MiB have at most 30 open.
  private static let fanIn = 16
  /// About how many bytes of memory an entry takes besides its key and its line.
  private static let overhead = 128

  private let directory: LocalPath
  private let memory: Int
  private var entries: [Entry] = []
  private var held = 0
  /// The runs that were written, by level. The level says how often the lines of a run were merged. At each level, the
  /// first run is the oldest. All runs of a level are newer than the runs of higher levels.
  private var levels: [[SortedRun]] = []

  /// - Parameters:
  ///   - directory: the directory for the files of runs.
  ///   - memory: about how many bytes are kept in memory.
  init(in directory: LocalPath, memory: Int = 64 * 1024 * 1024) {
    self.directory = directory
    self.memory = memory
  }

  /// Adds a line.
  func add(_ line: [UInt8], key: [UInt8]) throws(BatchError) {
    entries.append(Entry(key: key, line: line))
    held += key.count + line.count + Self.overhead
    if held >= memory { try writeRun() }
  }

  /// The lines in the order of their keys. No lines can be added after this call.
  func sorted() throws(BatchError) -> SortedLines {
    guard !levels.isEmpty else {
      sortEntries()
      return SortedLines(entries, in: directory)
    }
    try writeRun()
    return try SortedLines(levels.reversed().flatMap(\.self), in: directory)
  }

  /// Calls `use` with each line, in the order of the keys. If the lines can't be sorted, returns the error; otherwise nil.
  func finish<Failure: Error>(
    _ use: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) -> BatchError? {
    let lines: SortedLines
    do throws(BatchError) { lines = try sorted() } catch { return error }
    while true {
      let line: [UInt8]?
      do throws(BatchError) { line = try lines.next()?.line } catch { return error }
      guard let line else { return nil }
      try use(line)
    }
  }

  private func sortEntries() {
    // Swift does not promise that its sort keeps the order of equal elements.
    let order = entries.indices.sorted { first, second in
      let (one, other) = (entries[first].key, entries[second].key)
      return one == other ? first < second : one.lexicographicallyPrecedes(other)
    }
    entries = order.map { entries[$0] }
  }

  private func writeRun() throws(BatchError) {
    sortEntries()
    do throws(SystemError) {
      var writer = RunWriter(try RandomAccessFile(unnamedIn: directory))
      for entry in entries { try writer.write(entry.key, entry.line) }
      try keep(try writer.finish())
    } catch {
      throw failed(error)
    }
    entries.removeAll(keepingCapacity: true)
    held = 0
  }

  /// Keeps a run. If a level then has enough runs, merges them into one run of the next level.
  private func keep(_ run: SortedRun) throws(SystemError) {
    var run = run
    for level in 0... {
      if level == levels.count { levels.append([]) }
      levels[level].append(run)
      guard levels[level].count >= Self.fanIn else { return }
      var merge = try RunMerge(levels[level])
      var writer = RunWriter(try RandomAccessFile(unnamedIn: directory))
      while let next = try merge.next() { try writer.write(next.key, next.line) }
      levels[level] = []
      run = try writer.finish()
    }
  }

  /// The beginning of the message if a run can't be written or read.
  static let failure = "The files can't be sorted"

  private func failed(_ error: SystemError) -> BatchError {
    .temporaryFileFailed(in: directory, Self.failure, error)
  }
}

extension BatchError {
  /// The error for a temporary file (a file without a name) that can't be made, written or read.
  static func temporaryFileFailed(
    in directory: LocalPath, _ what: String, _ error: SystemError
  ) -> BatchError {
    let remedy =
      if error.isOutOfSpace {
        "Make room there, or set TMPDIR to another."
      } else if error.isOutOfDescriptors {
        "Allow more open files (\"ulimit -n\")."
      } else {
        "Set TMPDIR to another."
      }
    return BatchError(
      .writeFailed, on: directory.description,
      "\(what) in the directory \(directory.description.quoted): \(error). \(remedy)",
      underlying: error)
  }
}
