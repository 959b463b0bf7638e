import FormStreamMultipart

/// Standard input as a part, or as a complete body. It is read only if the command line names `-`.
enum StandardInput {
  /// Fails if a path is another name of standard input, such as `/dev/stdin`, and standard input is closed.
  static func check(_ path: LocalPath, for use: String) throws(Failure) {
    guard isClosedStandardInput(path) else { return }
    throw Failure(
      .noInput,
      "The file \"\(path)\" of \(use) is standard input, which is closed. Redirect it with < or |.")
  }

  /// Standard input as a body. A regular file that can be opened again is read from its current offset: its length is
  /// known, and it can be sent more than once. Any other input is a stream.
  ///
  /// - Parameter length: the length of a stream, if it was stated. A stream of another length is an error when it is sent.
  static func body(
    range: FileRange? = nil, length: Int64? = nil, for use: String
  ) throws(Failure) -> PartBody {
    let offset: Int64?
    do {
      offset = try standardInputOffset()
    } catch {
      throw Failure(
        .noInput,
        "Standard input can't be read for \(use): \(error). Redirect it with < or |.")
    }
    guard let offset else {
      if range != nil {
        throw .usage(
          "--range of \(use) needs a file, and standard input is a pipe or device: use \"tail "
            + "-c\" and \"head -c\" instead.")
      }
      return .descriptor(0, length: length)
    }
    let (start, overflow) = offset.addingReportingOverflow(range?.offset ?? 0)
    guard !overflow else {
      throw .usage("--range of \(use) begins after the end of any file.")
    }
    return .file(
      "/dev/stdin", range: FileRange(offset: start, length: range?.length),
      growing: range?.growth ?? false)
  }
}
