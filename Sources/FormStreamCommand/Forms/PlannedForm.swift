import FormStreamMultipart
import FormStreamPlatform

/// A form that is ready to be laid out.
struct PlannedForm {
  let form: Form
  /// Where each part's bytes come from, in words.
  let origins: [String]

  /// Whether the type of a file is not given.
  var needsTypes: Bool { form.parts.contains { $0.filename != nil && $0.type == nil } }
}

extension LowArguments {
  func plannedForm() throws(Failure) -> PlannedForm {
    let boundary = try self.boundary.map { (text) throws(Failure) in
      try convertingErrors { () throws(MultipartError) in try Boundary(text) }
    }
    var form = Form(
      boundary: boundary ?? .random(), escaping: escaping ?? .browser, browserText: browserText)
    var origins: [String] = []
    var readsStandardInput = false
    for arguments in parts {
      if arguments.isStandardInput {
        if readsStandardInput {
          throw .usage(
            "Standard input is named twice, last for part \"\(arguments.name)\": it can be read once."
          )
        }
        readsStandardInput = true
      }
      form.append(try arguments.part())
      origins.append(arguments.origin)
    }
    return PlannedForm(form: form, origins: origins)
  }
}

extension PartArguments {
  fileprivate var origin: String {
    guard let path else { return "from the command line" }
    return isStandardInput ? "from standard input" : "from the file \(path.shown)"
  }

  fileprivate func part() throws(Failure) -> Part {
    var part = Part(name: name, filename: filename, type: try mediaType(), body: try body())
    if filename == nil { part.filenameBytes = defaultFilename }
    for line in headers { try add(line, to: &part.headers) }
    for file in headerFiles {
      for line in try HeaderFile.lines(of: file) { try add(line, to: &part.headers) }
    }
    return part
  }

  /// As in curl, standard input is a file with the name "-".
  private var defaultFilename: [UInt8]? {
    if case .file(let path) = content { path.path.lastComponentBytes } else { nil }
  }

  private func mediaType() throws(Failure) -> MediaType? {
    guard let type else { return nil }
    guard let mediaType = MediaType(type) else {
      throw .usage(
        "The type of part \"\(name)\" is not a media type: write it as type/subtype, such as "
          + "image/png or text/plain; charset=utf-8.")
    }
    return mediaType
  }

  private func body() throws(Failure) -> PartBody {
    switch content {
    case .value(let value):
      if range != nil {
        throw .usage("--range is for files, and part \"\(name)\" is a text field.")
      }
      // A value that is not UTF-8 is sent as the bytes that were typed.
      return value.text.map(PartBody.text) ?? .bytes(value.bytes)
    case .file(let path), .contents(let path):
      if isStandardInput { return try StandardInput.body(range: range, for: "part \"\(name)\"") }
      guard !path.bytes.isEmpty else {
        throw .usage("There is no path for part \"\(name)\": write \(spelling) \(name)=PATH.")
      }
      try StandardInput.check(path.path, for: "part \"\(name)\"")
      return .file(path.path, range: range, mayGrow: range?.growth ?? false)
    }
  }

  private func add(_ line: String, to headers: inout PartHeaders) throws(Failure) {
    let bytes = line.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
      throw .usage("A header of part \"\(name)\" has no colon in it: write \"Name: value\".")
    }
    guard HTTPSyntax.isToken(bytes[..<colon]) else {
      throw .usage(
        "A header of part \"\(name)\" has a name that is not valid: use letters, digits and hyphens."
      )
    }
    // Split by bytes: Swift joins the colon or a space with a combining mark after it.
    let value = Substring(bytes[bytes.index(after: colon)...].drop(while: \.isBlank))
    headers.append(String(Substring(bytes[..<colon])), String(value))
    // Reported before anything else is done.
    try convertingErrors(headers.check)
  }
}
