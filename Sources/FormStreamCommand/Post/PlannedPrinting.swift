/// What is printed about responses besides their bodies, and what is not.
struct PlannedPrinting {
  /// Whether heads come before the body.
  let includesHeads: Bool
  /// Where heads go in addition; nil for nowhere.
  let headTarget: OutputTarget?
  let writeOut: WriteOut?
  /// Whether the response of a refused request is not printed.
  let hidesRefused: Bool
  /// Whether it is not said why a request failed.
  let hidesFailures: Bool

  /// Whether heads go to standard output in addition.
  var isOnStandardOutput: Bool {
    if case .standardOutput? = headTarget { true } else { false }
  }

  /// Whether heads come before the body that is written there: `-D -` is then the same as `-i`.
  func includesHeads(on target: OutputTarget?) -> Bool {
    guard case .standardOutput? = target else { return includesHeads }
    return includesHeads || isOnStandardOutput
  }

  var needsHeads: Bool { includesHeads || headTarget != nil || writeOut != nil }
}

extension LowArguments {
  func plannedPrinting() throws(Failure) -> PlannedPrinting {
    let printed = [
      (request.includesHeads, request.asksForHead ? "-I" : "-i"),
      (request.headFile?.isDash == true, "-D -"), (request.writeOut != nil, "-w"),
    ].first(where: \.0)?.1
    if printsJSON, let printed {
      throw .usage(
        "--json and \(printed) both print to standard output: leave one out; the record has status, headers and bytes."
      )
    }
    if request.hidesRefused, request.outputsAnyStatus {
      throw .usage(
        "-f prints no response of a refused request, and --output-any-status stores it: leave one out."
      )
    }
    return PlannedPrinting(
      includesHeads: request.includesHeads, headTarget: try headTarget(),
      writeOut: try request.writeOut.map { (format) throws(Failure) in try WriteOut(format) },
      hidesRefused: request.hidesRefused,
      hidesFailures: request.isSilent && !request.showsErrors)
  }

  private func headTarget() throws(Failure) -> OutputTarget? {
    guard let file = request.headFile else { return nil }
    if file.isDash { return .standardOutput }
    guard !file.bytes.isEmpty, !file.bytes.contains(0) else {
      throw .usage("-D needs the name of a file, or - for standard output.")
    }
    return .path(file.path)
  }
}

extension Failure {
  /// The failure without its message. A wrong command line and a bug are always explained.
  var silenced: Failure {
    [.usage, .bug].contains(exit) ? self : Failure(exit, "", code: code)
  }
}

/// What `-D` names. The file gets its name at the end, whatever became of the requests.
struct HeadFile {
  private let file: OutputFile

  /// Nil if heads go nowhere.
  init?(_ printing: PlannedPrinting) throws(Failure) {
    guard let target = printing.headTarget else { return nil }
    file = try OutputFile(target)
  }

  func add(_ heads: ReceivedHeads) throws(Failure) { try file.write(try heads.all()) }

  func commit() throws(Failure) { try file.commit() }
}

extension ResultReport.Ending {
  /// Writes the heads of a request to the file of `-D`.
  mutating func write(_ heads: ReceivedHeads, to file: HeadFile?) {
    do throws(Failure) { try file?.add(heads) } catch { failure = failure ?? error }
  }

  /// Gives the file of `-D` its name.
  mutating func complete(_ file: HeadFile?) {
    do throws(Failure) { try file?.commit() } catch { failure = failure ?? error }
  }
}
