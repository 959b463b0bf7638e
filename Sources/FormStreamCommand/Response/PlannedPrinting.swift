import FormStreamMultipart
import FormStreamPlatform

/// What is printed about responses besides their bodies, and what is left out.
struct PlannedPrinting {
  /// Whether heads come before the body.
  let includesHeads: Bool
  /// Whether bodies are not written: with `-I` and a method whose responses have bodies.
  let hidesBodies: Bool
  /// Whether a file gets the time of the server's `Last-Modified`.
  let setsTime: Bool
  /// Where `-D` writes heads; nil without `-D`.
  let headTarget: OutputTarget?
  /// The directory that is made for the file of the heads, if it does not exist.
  let madeHeadDirectory: LocalPath?
  let writeOut: WriteOut?
  /// Whether the response of a refused request is not printed.
  let hidesRefused: Bool
  /// Whether the reason why a request failed is not printed.
  let hidesFailures: Bool
  let printsRecord: Bool
  /// The maximum number of bytes of the response's body in the record.
  let responseLimit: Int
  /// Whether the response is written to a file even if the request was refused.
  let outputsAnyStatus: Bool
  let isQuiet: Bool
  /// The turn to print: of requests at the same time, one prints after the other.
  let turn = Guarded(())

  /// Whether `-D` writes heads to standard output.
  var isOnStandardOutput: Bool {
    if case .standardOutput? = headTarget { true } else { false }
  }

  /// Whether heads come before the body that is written to this target.
  func includesHeads(on target: OutputTarget?) -> Bool {
    includesHeads || joinsHeads(on: target)
  }

  /// Whether `-D -` prints the heads before the body that is written to this target, as `-i` does, and not at the end.
  func joinsHeads(on target: OutputTarget?) -> Bool {
    if case .standardOutput? = target { isOnStandardOutput } else { false }
  }

  var needsHeads: Bool { includesHeads || headTarget != nil || writeOut != nil }
}

extension PlannedPrinting {
  init(
    _ request: RequestArguments, _ downloading: DownloadArguments, printsRecord: Bool,
    _ input: InputReader
  ) throws(Failure) {
    let writeOut = try request.writeOut.map { (format) throws(Failure) in
      if DataOrFile(format, of: "-w").file?.isDash == true {
        input.announceKeyboard()
      }
      return try WriteOut(format)
    }
    let printed = [
      (request.includesHeads, request.asksForHead ? "-I" : "-i"),
      (request.headFile?.isDash == true, "-D -"), (writeOut?.isOnStandardOutput == true, "-w"),
    ].first(where: \.0)?.1
    if printsRecord, let printed {
      let remedy =
        printed == "-w" ? "begin the format with %{stderr}, or leave one out" : "leave one out"
      throw .usage(
        "--json and \(printed) both print to standard output: \(remedy); the record has status, headers and bytes."
      )
    }
    if request.hidesRefused, request.outputsAnyStatus {
      throw .usage(
        "-f prints no response of a refused request, and --output-any-status stores it: leave one out."
      )
    }
    let headTarget = try Self.headTarget(request.headFile)
    self.init(
      includesHeads: request.includesHeads,
      hidesBodies: request.asksForHead && request.method != nil, setsTime: downloading.setsTime,
      headTarget: headTarget,
      madeHeadDirectory: downloading.makesDirectories ? headTarget?.directory : nil,
      writeOut: writeOut,
      hidesRefused: request.hidesRefused,
      hidesFailures: request.isSilent && !request.showsErrors, printsRecord: printsRecord,
      responseLimit: request.responseLimit ?? 1024 * 1024,
      outputsAnyStatus: request.outputsAnyStatus, isQuiet: request.isQuiet)
  }

  private static func headTarget(_ file: Argument?) throws(Failure) -> OutputTarget? {
    try file.map { file throws(Failure) in try OutputTarget(file, of: "-D") }
  }
}

extension Failure {
  /// The failure without its message. A wrong command line and a bug are always explained.
  var silenced: Failure {
    [.usage, .bug].contains(exit) ? self : Failure(exit, "", code: code)
  }
}
