import FormStreamDigest
import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform
import FormStreamRecords

/// Runs `parse`. If the body fails in the middle, the parts before that are printed too.
func parse(_ plan: ParsePlan) throws(Failure) {
  let parser = try convertingErrors { () throws(MultipartError) in
    try FormParser(boundary: plan.boundary, options: plan.options)
  }
  let source = try plan.input.open()
  let store = try plan.directory.map { (path) throws(Failure) in try FileStore(path) }
  var options = PartCollector.Options()
  options.makesDigests = plan.printsJSON
  options.keepsHeaders = plan.printsJSON
  let collector = PartCollector(store ?? DiscardedUpload(), options: options)
  var bodyFailure: BodyFailure?
  do {
    try parser.parse(source, to: collector.handle)
  } catch let error as SystemError where parser.offset == 0 {
    throw plan.input.unreadable(error)
  } catch {
    bodyFailure = BodyFailure(error, of: plan, at: parser.offset, collector: collector)
  }
  let record = ParsedRecord(
    bodyBytes: bodyFailure?.offset ?? parser.offset, isComplete: bodyFailure == nil,
    parts: collector.parts, error: bodyFailure?.record)
  let output = try OutputFile(.standardOutput)
  if plan.printsJSON {
    try output.write(record.line())
  } else {
    try output.write(PartTable.text(of: record))
  }
  if let bodyFailure { throw Failure(bodyFailure.exit, bodyFailure.record.message) }
}

/// Why a body could not be read to its end.
private struct BodyFailure {
  let exit: ExitCode
  let record: RecordFailure
  /// The offset of the failure in the body. It does not depend on the pieces that the body arrived in.
  private(set) var offset: Int64?

  init(_ error: any Error, of plan: ParsePlan, at readOffset: Int64, collector: PartCollector) {
    let (code, message): (String, String)
    switch error {
    case let error as MultipartError:
      exit = Failure(error).exit
      offset = error.offset
      (code, message) = (
        error.code.rawValue, error.description + (collector.currentPartHint ?? plan.boundaryHint)
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
    record = RecordFailure(code: code, message: message)
  }
}

extension ParsePlan {
  /// A sentence about the most likely mistake, for a body in which no part was found.
  fileprivate var boundaryHint: String {
    boundary.hasPrefix("--") ? " The two hyphens before a boundary are not part of it." : ""
  }
}

extension PartCollector {
  /// A sentence about the part that failed; nil between parts.
  fileprivate var currentPartHint: String? {
    current.map {
      " This is in part \(parts.count + 1), \(($0.part.name ?? "").quoted), of which \($0.size) bytes arrived."
    }
  }
}
