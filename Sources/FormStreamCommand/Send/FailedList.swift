import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform

/// The manifest of the files that were not accepted, written while files end. The first such file begins the manifest:
/// if all files are accepted, there is none.
final class FailedList: Sendable {
  private struct State {
    let output: ManifestOutput
    var count = 0
    /// After a failure, the list would have a gap.
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

  /// Adds a file. Any thread may call it.
  ///
  /// - Parameters:
  ///   - root: what the paths of all files in manifests are relative to.
  ///   - hasOneRoot: whether the files are different ones below the root.
  func add(_ file: BatchFile, below root: LocalPath?, hasOneRoot: Bool) throws(Failure) {
    try state.withLock { state throws(Failure) in
      try state.perform { state throws(Failure) in
        if state.count == 0 { try state.output.begin(root: root, hasOneRoot: hasOneRoot) }
        state.count += 1
        try state.output.write(ManifestEncoder.line(for: file))
      }
    }
  }

  /// Gives the file its name, if there are files in it.
  func finish() throws(Failure) {
    try state.withLock { state throws(Failure) in
      try state.perform { state throws(Failure) in
        if state.count > 0 { try state.output.commit() }
      }
    }
  }
}
