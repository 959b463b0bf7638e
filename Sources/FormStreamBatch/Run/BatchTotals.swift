package import FormStreamMultipart

/// How many files of a run ended in each state, and which errors were the most common.
public struct BatchTotals: Sendable {
  /// An error that several files had.
  package struct CommonError: Sendable {
    /// The code of the error; the HTTP status is added if the server refused the request.
    package let name: String
    package fileprivate(set) var count = 0
    /// The message about the first file that had the error.
    package let example: String
    /// The first files that had the error.
    package fileprivate(set) var paths: [LocalPath] = []

    /// How many ``paths`` there are at most.
    private static let maximumPaths = 3

    fileprivate mutating func add(_ path: LocalPath) {
      count += 1
      if paths.count < Self.maximumPaths { paths.append(path) }
    }
  }

  /// How many files were listed. A directory that can't be listed counts as one.
  public package(set) var listed = 0
  /// How many of the ``listed`` files are directories that can't be listed.
  package private(set) var unlistedDirectories = 0
  /// Whether all files are listed.
  public package(set) var isListed = false
  /// How many bytes the listed files have.
  package var listedBytes: Int64 = 0
  package private(set) var states: [BatchState: Int] = [:]
  /// How many bytes the accepted files have.
  public private(set) var acceptedBytes: Int64 = 0
  /// The total size of the files that were skipped because of an earlier run, in bytes.
  package private(set) var skippedBytes: Int64 = 0
  /// The total size of the files that were neither accepted nor skipped, in bytes. Files without an outcome don't count.
  package private(set) var unacceptedBytes: Int64 = 0
  /// How many of the ``unacceptedBytes`` were sent.
  package private(set) var unacceptedSentBytes: Int64 = 0
  /// How many of the failed files are missing or can't be read.
  public private(set) var unreadable = 0
  /// How many of the skipped files may or may not have been accepted in an earlier run.
  public internal(set) var skippedInDoubt = 0
  private var errors: [String: CommonError] = [:]

  /// How many kinds of errors are counted separately at most.
  private static let maximumErrors = 1000

  package init() {}

  /// How many files have a state.
  public subscript(state: BatchState) -> Int { states[state] ?? 0 }

  /// How many files have a state. The other files have no outcome yet.
  public var finished: Int { states.values.reduce(0, +) }

  /// How many files were neither accepted nor skipped.
  public var unaccepted: Int { finished - self[.ok] - self[.skipped] }

  /// The most common errors, the most frequent first.
  package func commonestErrors(_ count: Int) -> [CommonError] {
    Array(errors.values.sorted { ($0.count, $1.name) > ($1.count, $0.name) }.prefix(count))
  }

  /// - Parameter sent: how many of the file's bytes were sent, if it was not accepted.
  package mutating func note(
    _ state: BatchState, size: Int64, sent: Int64 = 0, isUnreadable: Bool = false
  ) {
    states[state, default: 0] += 1
    switch state {
    case .ok: acceptedBytes = acceptedBytes.addingClamped(size)
    case .skipped: skippedBytes = skippedBytes.addingClamped(size)
    case .failed, .retryable, .unknown, .sourceChanged:
      unacceptedBytes = unacceptedBytes.addingClamped(size)
      unacceptedSentBytes = unacceptedSentBytes.addingClamped(sent)
    }
    if isUnreadable { unreadable += 1 }
  }

  mutating func noteListed(_ file: BatchFile) {
    listed += 1
    if file.isDirectory { unlistedDirectories += 1 }
    listedBytes = listedBytes.addingClamped(file.size)
  }

  /// The name under which an error is counted.
  package static func name(ofError code: String, status: Int?) -> String {
    guard let status, ["status-refused", BatchError.Code.folderNotMade.rawValue].contains(code) else { return code }
    return "\(code) \(status)"
  }

  package mutating func note(error name: String, _ example: String, of path: LocalPath) {
    let key = errors[name] != nil || errors.count < Self.maximumErrors ? name : "other errors"
    errors[key, default: CommonError(name: key, example: example)].add(path)
  }
}
