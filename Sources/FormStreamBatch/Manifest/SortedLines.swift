import FormStreamMultipart
import FormStreamPlatform

/// The lines of a sorter, one after another, in the order of their keys.
final class SortedLines {
  private let directory: LocalPath
  /// Merges the runs on the disk; nil if the lines are in memory.
  private var merge: RunMerge?
  private var entries: [ExternalSorter.Entry] = []
  private var place = 0

  init(_ entries: [ExternalSorter.Entry], in directory: LocalPath) {
    (self.directory, self.entries) = (directory, entries)
  }

  init(_ runs: [SortedRun], in directory: LocalPath) throws(BatchError) {
    self.directory = directory
    do throws(SystemError) { merge = try RunMerge(runs) } catch {
      throw .temporaryFileFailed(in: directory, ExternalSorter.failure, error)
    }
  }

  /// The next line, with its key; nil after the last.
  func next() throws(BatchError) -> (key: [UInt8], line: [UInt8])? {
    if merge != nil {
      do throws(SystemError) { return try merge?.next() } catch {
        throw .temporaryFileFailed(in: directory, ExternalSorter.failure, error)
      }
    }
    guard place < entries.count else { return nil }
    defer { place += 1 }
    return (entries[place].key, entries[place].line)
  }
}
