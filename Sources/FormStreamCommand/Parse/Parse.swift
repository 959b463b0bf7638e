import FormStreamDigest
import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform

/// Runs `parse`. If the body fails in the middle, the parts before the failure are still printed.
func parse(_ plan: ParsePlan) throws(Failure) {
  if let boundary = plan.boundary { _ = try plan.parser(boundary) }
  let source = try plan.input.open()
  let store = try plan.directory.map { (path) throws(Failure) in try FileStore(path) }
  var options = PartCollector.Options()
  options.makesDigests = plan.printsJSON
  options.keepsHeaders = plan.printsJSON
  let collector = PartCollector(store ?? DiscardedUpload(), options: options)
  let body = try BodyToParse(source, of: plan)
  var failure = body.failure
  var offset = Int64(body.startSize)
  if let parser = body.parser {
    do {
      try parser.parse(body.source, to: collector.handle)
    } catch let error as SystemError where parser.offset == 0 {
      throw plan.input.unreadable(error)
    } catch {
      failure = BodyFailure(
        error, of: plan, at: parser.offset, collector: collector, hint: body.hint)
    }
    offset = parser.offset
  }
  let form = ReceivedForm(
    bodyBytes: failure?.offset ?? offset, isComplete: failure == nil, parts: collector.parts,
    failure: failure?.reason)
  let output = try OutputFile(.standardOutput)
  if plan.printsJSON {
    try output.write(form.recordLine())
  } else {
    try output.write(PartTable.text(of: form))
  }
  if let failure { throw Failure(failure.exit, failure.reason.message) }
}

/// A body, and the parser for its boundary.
private struct BodyToParse {
  let source: any ByteSource
  /// Nil if the boundary is not known.
  private(set) var parser: FormParser?
  /// Why the boundary is not known.
  private(set) var failure: BodyFailure?
  /// How many bytes were read to find the boundary.
  private(set) var startSize = 0
  /// A sentence about the most likely mistake, for a body in which no part was found.
  private(set) var hint: String

  /// Finds the boundary if it was not given, and then prints a note that names the boundary.
  init(_ source: any ByteSource, of plan: ParsePlan) throws(Failure) {
    if let boundary = plan.boundary {
      self.source = source
      parser = try plan.parser(boundary)
      hint =
        (boundary.hasPrefix("--") ? " The two hyphens before a boundary are not part of it." : "")
        + " Without --boundary and --content-type, parse takes the boundary of the first delimiter line."
      return
    }
    let started: StartedSource
    do {
      started = try StartedSource(source, limits: plan.options.limits)
    } catch let error as SystemError {
      source.close()
      throw plan.input.unreadable(error)
    } catch {
      source.close()
      throw Failure(.bug, "\(plan.input) could not be read: \(error).")
    }
    self.source = started
    startSize = started.startSize
    hint = ""
    guard let line = started.delimiterLine else {
      started.close()
      failure = BodyFailure(
        startSize == 0
          ? "\(plan.input) is empty: a form has at least one line, with two hyphens and the boundary."
          : "\(plan.input) has no delimiter line where a form begins: a line of two hyphens and the boundary. If it is a form, "
            + "give its --boundary, or the request's --content-type.")
      return
    }
    if !plan.isQuiet {
      StandardError.note(
        "The boundary is \(line.boundary.quoted), as in the first delimiter line of the body.")
    }
    if line.endsWithBareLF, !plan.options.allowsBareLF {
      hint = " Its first line ends with LF alone: --bare-lf accepts that."
    }
    parser = try plan.parser(line.boundary)
  }
}

/// Why a body could not be read to its end.
private struct BodyFailure {
  let exit: ExitCode
  let reason: ReceivedForm.Failure
  /// The offset of the failure in the body. It does not depend on the pieces that the body arrived in.
  private(set) var offset: Int64?

  /// A body without a delimiter line.
  init(_ message: String) {
    exit = .failed
    reason = ReceivedForm.Failure(
      code: MultipartError.Code.malformedBody.rawValue, message: message)
  }

  /// - Parameter hint: a sentence to add to the message if no part was found.
  init(
    _ error: any Error, of plan: ParsePlan, at readOffset: Int64, collector: PartCollector,
    hint: String
  ) {
    let (code, message): (String, String)
    switch error {
    case let error as MultipartError:
      exit = Failure(error).exit
      offset = error.offset
      let foundNone = collector.parts.isEmpty && readOffset > 0 && error.mayHaveOtherBoundary
      (code, message) = (
        error.code.rawValue,
        error.message.text(naming: flagName)
          + (collector.currentPartHint ?? (foundNone ? hint : ""))
      )
    case let error as SystemError:
      exit = .inputOutput
      (code, message) = (
        MultipartError.Code.readFailed.rawValue,
        "\(plan.input) could not be read further than byte \(readOffset): \(error). Try again, or from a copy."
      )
    case let error as StorageError:
      exit = .inputOutput
      (code, message) = (
        error.code.rawValue, error.description + (collector.currentPartHint ?? "")
      )
    case let error as DigestError:
      exit = .inputOutput
      (code, message) = (error.code.rawValue, error.description)
    default:
      exit = .bug
      (code, message) = ("bug", "\(plan.input) could not be read: \(error).")
    }
    reason = ReceivedForm.Failure(code: code, message: message)
  }
}

extension MultipartError {
  /// Whether the cause may be that the body has a boundary other than the given one.
  fileprivate var mayHaveOtherBoundary: Bool {
    code == .bodyIncomplete || message.names(FormParser.Limits.Remedy(limit: .preamble))
  }
}

extension ParsePlan {
  /// A parser for this boundary.
  fileprivate func parser(_ boundary: String) throws(Failure) -> FormParser {
    try convertingErrors { () throws(MultipartError) in
      try FormParser(boundary: boundary, options: options)
    }
  }
}

extension PartCollector {
  /// A sentence about the part that failed; nil between parts.
  fileprivate var currentPartHint: String? {
    current.map {
      " This is in part \(parts.count + 1), \(($0.part.name ?? "").quoted), of which \($0.size) \($0.size == 1 ? "byte" : "bytes") arrived."
    }
  }
}
