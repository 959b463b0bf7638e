import FormStreamMultipart

/// The checked arguments of `parse`.
struct ParsePlan {
  let input: NamedInput
  /// Nil if it is that of the body's first delimiter line.
  let boundary: String?
  let options: FormParser.Options
  /// Where files are stored; nil if they are not.
  let directory: LocalPath?
  let printsJSON: Bool
  let isQuiet: Bool
}

extension LowArguments {
  func parsePlan() throws(Failure) -> ParsePlan {
    guard let operand = operands.first, !operand.bytes.isEmpty else {
      throw .usage("Name the file that holds the body, or - for standard input.")
    }
    if let directory, directory.bytes.isEmpty {
      throw .usage("--into needs the name of a directory.")
    }
    var options = FormParser.Options()
    options.allowsBareLF = allowsBareLF
    options.escaping = escaping
    options.limits = limits
    return ParsePlan(
      input: NamedInput(operand), boundary: try boundaryOfBody(&options), options: options,
      directory: directory?.path, printsJSON: printsJSON, isQuiet: request.isQuiet)
  }

  private func boundaryOfBody(_ options: inout FormParser.Options) throws(Failure) -> String? {
    switch (boundary, contentType) {
    case (let boundary?, nil):
      return boundary
    case (nil, let contentType?):
      let type = Self.fieldValue(in: contentType)
      guard let boundary = FormParser.boundary(inContentType: type) else {
        throw .usage(
          "--content-type names no boundary: give the request's complete header, such "
            + "as \"multipart/form-data; boundary=B\", or give --boundary.")
      }
      options.requiresNames = FormParser.isFormData(type)
      return boundary
    case (nil, nil):
      return nil
    case (_?, _?):
      throw .usage("--boundary and --content-type both name the boundary: give one of them.")
    }
  }

  /// The value in a header line, which may come without the header's name.
  private static func fieldValue(in line: String) -> String {
    let name = "content-type:"
    guard line.lowercased().hasPrefix(name) else { return line }
    return String(line.dropFirst(name.count).drop { $0 == " " || $0 == "\t" })
  }
}
