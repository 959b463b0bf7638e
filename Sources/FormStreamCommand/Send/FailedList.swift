import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform

/// The manifest of the files that were not accepted, written during the run. The first such file begins the manifest:
/// if all files are accepted, there is no manifest.
final class FailedList: Sendable {
  private struct State {
    let output: ManifestOutput
    var count = 0
    /// The first failure. Nothing more is written after it, because the list would have a gap.
    var failure: Failure?

    mutating func perform(_ body: (inout State) throws(Failure) -> Void) throws(Failure) {
      if let failure { throw failure }
      do throws(Failure) { try body(&self) } catch {
        failure = error
        throw error
      }
    }
  }

  /// Where the list is, as messages name it.
  let name: String
  private let state: Guarded<State>

  init(_ target: OutputTarget) throws(Failure) {
    name =
      switch target {
      case .standardOutput: "on standard output"
      case .path(let path): "in \"\(path)\""
      }
    state = Guarded(State(output: try ManifestOutput(target)))
  }

  /// How many files the list has.
  var count: Int { state.withLock(\.count) }

  /// Adds a file. Any thread may call this method.
  ///
  /// - Parameters:
  ///   - root: the directory that paths in the manifest are relative to; nil for the current directory.
  ///   - hasOneRoot: whether all files are different files below the root.
  func add(_ file: BatchFile, below root: LocalPath?, hasOneRoot: Bool) throws(Failure) {
    try state.withLock { state throws(Failure) in
      try state.perform { state throws(Failure) in
        if state.count == 0 { try state.output.begin(root: root, hasOneRoot: hasOneRoot) }
        state.count += 1
        try state.output.write(ManifestEncoder.line(for: file))
      }
    }
  }

  /// Gives the manifest its name, if it lists any files.
  func finish() throws(Failure) {
    try state.withLock { state throws(Failure) in
      try state.perform { state throws(Failure) in
        if state.count > 0 { try state.output.commit() }
      }
    }
  }
}
