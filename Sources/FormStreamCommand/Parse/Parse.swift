import Multipart
import Records
import Storage

/// Carries out `parse`: what was read before something failed is printed, too.
func parse(_ plan: ParsePlan) throws(Failure) {
  let parser = try explaining { () throws(MultipartError) in
    try FormParser(boundary: plan.boundary, options: plan.options)
  }
  let source = try plan.input.open()
  let store = try plan.directory.map { (path) throws(Failure) in try FileStore(path) }
  let intake = FormIntake(store: store, makesDigests: plan.printsJSON)
  var flaw: BodyFlaw?
  do {
    try parser.parse(source, to: intake.take)
  } catch let error as SystemError where parser.offset == 0 {
    throw plan.input.unreadable(error)
  } catch {
    flaw = BodyFlaw(error, in: plan.input, at: parser.offset, part: intake)
  }
  let record = ParsedRecord(
    bodyBytes: flaw?.offset ?? parser.offset, isComplete: flaw == nil, parts: intake.parts,
    error: flaw?.record)
  try OutputFile(.standardOutput).write(
    plan.printsJSON ? "\(record.json)\n" : PartTable.text(of: record))
  if let flaw { throw Failure(flaw.exit, flaw.record.message) }
}

/// Why a body could not be read to its end.
private struct BodyFlaw {
  let exit: ExitCode
  let record: RecordFailure
  /// Where that is, the same however the body came in pieces.
  let offset: Int64?

  init(_ error: any Error, in input: BodyInput, at place: Int64, part intake: FormIntake) {
    switch error {
    case let error as MultipartError:
      exit = Failure(error).exit
      offset = error.offset
      let place = intake.current.map {
        " That is in part \(intake.parts.count + 1), \"\($0.head.name ?? "")\", of which \($0.size) bytes "
          + "came."
      }
      record = RecordFailure(
        code: error.code.rawValue, message: error.description + (place ?? ""))
    case let error as SystemError:
      exit = .inputOutput
      offset = nil
      record = RecordFailure(
        code: MultipartError.Code.readFailed.rawValue,
        message:
          "\(input) could not be read on from byte \(place): \(error). Try again, or from a copy.")
    case let error as StorageError:
      exit = .inputOutput
      offset = nil
      record = RecordFailure(code: error.code.rawValue, message: error.description)
    case let error as RecordsError:
      exit = .inputOutput
      offset = nil
      record = RecordFailure(code: error.code.rawValue, message: error.description)
    default:
      exit = .bug
      offset = nil
      record = RecordFailure(code: "bug", message: "\(input) could not be read: \(error).")
    }
  }
}
