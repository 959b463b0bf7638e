import FormStreamMultipart
import FormStreamPlatform

/// A form that is ready to be laid out.
struct PlannedForm {
  let form: Form
  /// Where each part's bytes come from, in words.
  let origins: [String]
  /// Whether the type of any file must be detected.
  let needsTypes: Bool
  /// The files, for messages; nil if there are none.
  let subject: String?
  /// Whether files are searched for the boundary.
  let verifiesBoundary: Bool
}

extension PlannedForm {
  init(_ arguments: FormArguments) throws(Failure) {
    let parts = arguments.parts
    guard arguments.openParts == 0 else {
      throw .usage("A part that =( opened is not complete: add -F '=)' after its last part.")
    }
    let boundary = try arguments.boundary.map { (text) throws(Failure) in
      try convertingErrors { () throws(MultipartError) in try Boundary(text) }
    }
    let leaves = parts.flatMap(\.leaves)
    let inputs = leaves.filter(\.isStandardInput)
    if inputs.count > 1, let last = inputs.last {
      throw .usage(
        "Standard input is named twice, last for part \"\(last.name)\": it can be read once.")
    }
    var form = Form(
      boundary: boundary ?? .random(), escaping: arguments.escaping ?? .browser,
      browserText: arguments.browserText)
    var count = 0
    for part in parts { form.append(try part.part(in: form, after: &count)) }
    self.init(
      form: arguments.growth == .refused ? form : form.growing(arguments.growth),
      origins: parts.map(\.origin),
      needsTypes: leaves.contains(where: \.needsType), subject: Self.subject(of: leaves),
      verifiesBoundary: arguments.verifiesBoundary)
  }

  private static func subject(of leaves: [PartArguments]) -> String? {
    let files = leaves.compactMap(\.path).filter { !$0.isDash }
    guard let first = files.first?.shown else { return nil }
    return switch files.count {
    case 1: first
    case 2: "\(first) and 1 other file"
    default: "\(first) and \(files.count - 1) other files"
    }
  }
}

extension PartArguments {
  fileprivate var needsType: Bool {
    if case .file = content { return type == nil }
    return filename != nil && type == nil
  }

  fileprivate var origin: String {
    if case .parts = content {
      return children.count == 1 ? "with 1 part in it" : "with \(children.count) parts in it"
    }
    guard let path else { return "from the command line" }
    return isStandardInput ? "from standard input" : "from the file \(path.shown)"
  }

  /// - Parameter count: how many parts before this one have parts of their own.
  fileprivate func part(in form: Form, after count: inout Int) throws(Failure) -> Part {
    var part = Part(
      name: isListed ? "" : name, filename: filename, type: try mediaType(),
      body: try body(in: form, after: &count))
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
      if type.hasPrefix("\"") {
        throw .usage(
          "The type of part \"\(name)\" has quotes around it, which would be sent: leave them out. A semicolon after type= needs none."
        )
      }
      throw .usage(
        "The type of part \"\(name)\" is not a media type: write it as type/subtype, such as "
          + "image/png or text/plain; charset=utf-8.")
    }
    return mediaType
  }

  private func body(in form: Form, after count: inout Int) throws(Failure) -> PartBody {
    switch content {
    case .parts:
      if range != nil {
        throw .usage("--range is for files, and part \"\(name)\" has parts of its own.")
      }
      try checkCommas()
      count += 1
      var inner = form
      // As in curl, only parts of multipart/form-data have the disposition form-data.
      inner.type = type?.lowercased() == "multipart/form-data" ? .formData : .mixed
      inner.parts = []
      // This boundary makes sure that no line of the inner form begins like a delimiter of the outer form. If the outer
      // boundary is too long for that, the inner one is random.
      inner.boundary = (try? Boundary("\(count).\(form.boundary)")) ?? .random()
      for child in children { inner.append(try child.part(in: inner, after: &count)) }
      return .form(inner)
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
      try path.checkTypedPath(for: "part \"\(name)\"")
      try StandardInput.check(path.path, for: "part \"\(name)\"")
      return .file(path.path, range: range, growing: range?.growth ?? false)
    }
  }

  /// Fails if the commas of a list belong to the path of one file: this file exists, and a file of the list does not
  /// exist.
  private func checkCommas() throws(Failure) {
    let paths = children.filter(\.isListed).compactMap(\.path)
    guard paths.contains(where: { !$0.isDash && !exists($0.path) }) else { return }
    guard exists(Argument(bytes: paths.map(\.bytes).joined(separator: ",".utf8)).path) else {
      return
    }
    throw .usage(
      "The path of part \"\(name)\" has a comma, which separates files in -F: put it into double quotes, or use --file."
    )
  }

  private func add(_ line: String, to headers: inout HTTPHeaders) throws(Failure) {
    let bytes = line.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
      throw .usage("A header of part \"\(name)\" has no colon in it: write \"Name: value\".")
    }
    guard HTTPSyntax.isToken(bytes[..<colon]) else {
      throw .usage(
        "A header of part \"\(name)\" has a name that is not valid: use letters, digits and hyphens."
      )
    }
    // The line is split by bytes, because Swift joins the colon or a space with a combining mark after it.
    let value = Substring(bytes[bytes.index(after: colon)...].drop(while: \.isBlank))
    headers.append(String(Substring(bytes[..<colon])), String(value))
    // A wrong header is reported before anything else is done.
    try convertingErrors(headers.checkOfPart)
  }
}

extension FileRange {
  /// If a file grows, a range with a length still has the same bytes, so such a file may grow.
  var growth: FileGrowth { length == nil ? .refused : .allowed }
}
