import FormStreamMultipart

/// Standard input as a part, or as a body by itself. It is read only where `-` is named.
enum StandardInput {
  /// Where it is a regular file that can be opened again, what is left of it is a part of known length,
  /// which can be sent more than once; otherwise it is a stream.
  static func body(range: FileRange? = nil, for use: String) throws(Failure) -> PartBody {
    let offset: Int64?
    do {
      offset = try standardInputOffset()
    } catch {
      throw Failure(
        .noInput,
        "Standard input can't be read for \(use): \(error). Give it something with < or |."
      )
    }
    guard let offset else {
      if range != nil {
        throw .usage(
          "--range of \(use) needs a file, and standard input is a pipe or device: use \"tail "
            + "-c\" and \"head -c\" before it.")
      }
      return .descriptor(0)
    }
    let (start, overflow) = offset.addingReportingOverflow(range?.offset ?? 0)
    guard !overflow else {
      throw .usage("--range of \(use) begins past any file's end.")
    }
    return .file("/dev/stdin", range: FileRange(offset: start, length: range?.length))
  }
}
