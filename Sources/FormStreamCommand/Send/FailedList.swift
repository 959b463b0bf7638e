import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform

/// The manifest of the files that were not accepted, written during the run. The first such file begins the manifest:
/// if all files are accepted, there is no manifest.
final class FailedList: Sendable {
  /// What the files of a list were listed in.
  struct Origin {
    /// The directory that paths in the list are relative to; nil for the current directory.
    let root: LocalPath?
    /// Whether all files are different files below the root.
    let hasOneRoot: Bool
    /// The id of the manifest; nil if there is none.
    let manifest: String?
    /// The round of the manifest; nil if it was not compared with earlier rounds.
    let round: Round?
    /// The directory with the journals; nil if there is none, or several.
    let journal: LocalPath?
  }

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
    state = Guarded(State(output: try ManifestOutput(target, isFailedList: true)))
  }

  /// How many files the list has.
  var count: Int { state.withLock(\.count) }

  /// Adds a file. Any thread may call this method.
  ///
  /// - Parameter origin: what the list is made from.
  func add(_ file: BatchFile, of origin: Origin) throws(Failure) {
    try state.withLock { state throws(Failure) in
      try state.perform { state throws(Failure) in
        if state.count == 0 { try state.output.begin(of: origin) }
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

extension FailedList.Origin {
  init(_ input: PreparedBatch) {
    let round = input.listing?.round ?? (input.files as? ManifestReader)?.round
    self.init(
      root: input.files.root, hasOneRoot: input.files.hasOneRoot, manifest: input.manifest,
      round: round?.number == 1 ? nil : round, journal: input.batch.journal)
  }
}

extension ManifestOutput {
  /// Writes the first line of a list of failed files.
  func begin(of origin: FailedList.Origin) throws(Failure) {
    try begin(
      ManifestEncoder(
        root: origin.root, hasOneRoot: origin.hasOneRoot, round: origin.round, parent: origin.manifest, isFailedList: true,
        journal: origin.journal))
  }
}
