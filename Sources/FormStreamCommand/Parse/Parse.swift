import FormStreamDigest
import FormStreamMultipart
import FormStreamRecords
import FormStreamIntake

/// Carries out `parse`: what was read before something failed is printed, too.
func parse(_ plan: ParsePlan) throws(Failure) {
  let parser = try explaining { () throws(MultipartError) in
    try FormParser(boundary: plan.boundary, options: plan.options)
  }
  let source = try plan.input.open()
  let store = try plan.directory.map { (path) throws(Failure) in try FileStore(path) }
  var options = PartCollector.Options()
  options.makesDigests = plan.printsJSON
  options.keepsHeaders = plan.printsJSON
  let intake = PartCollector(store ?? DiscardedUpload(), options: options)
  var flaw: BodyFlaw?
  do {
    try parser.parse(source, to: intake.handle)
  } catch let error as SystemError where parser.offset == 0 {
    throw plan.input.unreadable(error)
  } catch {
    flaw = BodyFlaw(error, of: plan, at: parser.offset, intake: intake)
  }
  let record = ParsedRecord(
    bodyBytes: flaw?.offset ?? parser.offset, isComplete: flaw == nil, parts: intake.parts,
    error: flaw?.record)
  let output = try OutputFile(.standardOutput)
  if plan.printsJSON {
    try output.write(record.line())
  } else {
    try output.write(PartTable.text(of: record))
  }
  if let flaw { throw Failure(flaw.exit, flaw.record.message) }
}

/// Why a body could not be read to its end.
private struct BodyFlaw {
  let exit: ExitCode
  let record: RecordFailure
  /// Where that is, the same however the body came in pieces.
  private(set) var offset: Int64?

  init(_ error: any Error, of plan: ParsePlan, at place: Int64, intake: PartCollector) {
    let (code, message): (String, String)
    switch error {
    case let error as MultipartError:
      exit = Failure(error).exit
      offset = error.offset
      (code, message) = (
        error.code.rawValue, error.description + (intake.whereabouts ?? plan.doubtOfBoundary)
      )
    case let error as SystemError:
      exit = .inputOutput
      (code, message) = (
        MultipartError.Code.readFailed.rawValue,
        "\(plan.input) could not be read on from byte \(place): \(error). Try again, or from a copy."
      )
    case let error as StorageError:
      exit = .inputOutput
      (code, message) = (error.code.rawValue, error.description + (intake.whereabouts ?? ""))
    case let error as DigestError:
      exit = .inputOutput
      (code, message) = (error.code.rawValue, error.description)
    default:
      exit = .bug
      (code, message) = ("bug", "\(plan.input) could not be read: \(error).")
    }
    record = RecordFailure(code: code, message: message)
  }
}

extension ParsePlan {
  /// A word on the likeliest mistake, where no part was found.
  fileprivate var doubtOfBoundary: String {
    boundary.hasPrefix("--") ? " The two hyphens before a boundary are not part of it." : ""
  }
}

extension PartCollector {
  /// In which part something failed; nil between parts.
  fileprivate var whereabouts: String? {
    current.map {
      " That is in part \(parts.count + 1), \(($0.part.name ?? "").quoted), of which \($0.size) bytes came."
    }
  }
}
