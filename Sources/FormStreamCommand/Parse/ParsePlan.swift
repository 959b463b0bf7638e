import FormStreamMultipart

/// The checked arguments of `parse`.
struct ParsePlan {
  let input: NamedInput
  /// Nil if the boundary is taken from the first delimiter line of the body.
  let boundary: String?
  let options: FormParser.Options
  /// Where files are stored; nil if files are not stored.
  let directory: LocalPath?
  let printsJSON: Bool
  let isQuiet: Bool
}

extension ParsePlan {
  init(_ arguments: LowArguments) throws(Failure) {
    guard let operand = arguments.operands.first, !operand.bytes.isEmpty else {
      throw .usage("Name the file that holds the body, or - for standard input.")
    }
    if let directory = arguments.directory, directory.bytes.isEmpty {
      throw .usage("--into needs the name of a directory.")
    }
    var options = FormParser.Options()
    options.allowsBareLF = arguments.allowsBareLF
    options.escaping = arguments.form.escaping
    options.limits.set(arguments.limits)
    input = NamedInput(operand)
    boundary = try Self.boundary(arguments.form.boundary, in: arguments.contentType, &options)
    self.options = options
    directory = arguments.directory?.path
    printsJSON = arguments.printsJSON
    isQuiet = arguments.request.isQuiet
  }

  private static func boundary(
    _ boundary: String?, in contentType: String?, _ options: inout FormParser.Options
  ) throws(Failure) -> String? {
    switch (boundary, contentType) {
    case (let boundary?, nil):
      return boundary
    case (nil, let contentType?):
      let type = fieldValue(in: contentType)
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
