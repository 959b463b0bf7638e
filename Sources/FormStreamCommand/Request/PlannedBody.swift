import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamJSON

/// The body of a request.
enum PlannedBody {
  case none
  case form(PlannedForm)
  /// A body that is not a form.
  case raw(PlannedBytes)

  /// Whether a type must be detected.
  var needsTypes: Bool {
    switch self {
    case .none: false
    case .form(let form): form.needsTypes
    case .raw(let bytes): bytes.type == nil
    }
  }

  /// The files in the body, for messages; nil if there are none.
  var subject: String? {
    switch self {
    case .none: nil
    case .form(let form): form.subject
    case .raw(let bytes): bytes.subject
    }
  }

  var isForm: Bool { if case .form = self { true } else { false } }

  /// The name of the file that is the complete body; nil if the body is anything else.
  var filename: String? {
    if case .raw(let bytes) = self { bytes.uploadedFile } else { nil }
  }
}

/// A body that is not a form.
struct PlannedBytes {
  let body: PartBody
  /// The body's type; nil if it must be detected.
  let type: MediaType?
  /// The name that helps to detect the type, in addition to the contents.
  let filename: String
  /// Where the bytes come from, in words.
  let origin: String
  /// The name of the file of `-T`.
  var uploadedFile: String?
  /// Whether the body is sent without a type, as curl's `-T` does.
  var hasNoType = false
  /// Its path, for messages.
  var subject: String?

  /// The body's type, detected in the same way as that of a form's file.
  func type(by detector: any MediaTypeDetector) throws(Failure) -> MediaType {
    if let type { return type }
    let form = Form(parts: [Part(name: "", filename: filename, body: body)])
    let layout = try convertingErrors { () throws(MultipartError) in
      try form.layout(detector: detector)
    }
    return layout.placedPart(at: 0).type ?? .octetStream
  }
}

extension LowArguments {
  func plannedBody(with upload: PlannedTarget.Upload?) throws(Failure) -> PlannedBody {
    var kinds: [String] = []
    if let part = parts.first { kinds.append(part.spelling) }
    if let upload { kinds.append(upload.spelling) }
    if !request.putsDataIntoURL, let piece = request.data.first { kinds.append(piece.flag) }
    if let json = request.json.first { kinds.append(json.flag ?? "--json-body") }
    guard kinds.count < 2 else {
      throw .usage(
        "\(kinds[0]) and \(kinds[1]) make two different bodies, and a request has one: leave one out."
      )
    }
    if !parts.isEmpty { return .form(try PlannedForm(self)) }
    if let upload { return .raw(try body(of: upload)) }
    if !request.json.isEmpty { return .raw(try json()) }
    if !request.data.isEmpty, !request.putsDataIntoURL {
      guard sendsRequest || !request.data.contains(where: \.isStandardInput) else {
        return .raw(DataArgument.unread)
      }
      if request.data.contains(where: \.isStandardInput), !DataArgument.isStreamed(request.data) {
        announceKeyboard()
      }
      return .raw(try DataArgument.body(of: request.data))
    }
    return .none
  }

  /// That the data of `--json-body` is not JSON; nil if it is, or if it is not known before it is sent.
  var noteOnJSON: String? {
    let pieces = request.json.map { DataOrFile($0, of: "--json-body") }
    guard let first = request.json.first, pieces.allSatisfy({ $0.file == nil }),
      let bytes = try? pieces.flatMap({ try $0.contents() })
    else { return nil }
    do {
      _ = try JSONValue(parsing: bytes)
      return nil
    } catch {
      return
        "The data of \(first.flag ?? "--json-body") is not JSON (\(error)), and is sent as it is: check the quotes of the shell."
    }
  }

  private func json() throws(Failure) -> PlannedBytes {
    let pieces = request.json.map { DataOrFile($0, of: $0.flag ?? "--json-body") }
    if pieces.count == 1 { return try pieces[0].streamed(as: "application/json") }
    if sendsRequest, pieces.contains(where: { $0.file?.isDash == true }) { announceKeyboard() }
    var bytes: [UInt8] = []
    for piece in pieces where sendsRequest || piece.file?.isDash != true {
      bytes += try piece.contents()
      try DataArgument.checkSize(of: bytes, for: "--json-body")
    }
    return PlannedBytes(
      body: .bytes(bytes), type: "application/json", filename: "",
      origin: "from the command line and files")
  }

  private func body(of upload: PlannedTarget.Upload) throws(Failure) -> PlannedBytes {
    let (path, spelling) = (upload.file, upload.spelling)
    // What is typed without -T is not curl's.
    let isCurls = path.flag != nil
    let type = try isCurls ? uploadType() : nil
    let hasNoType = isCurls && type == nil && !asksForTypes
    if path.isDash {
      // As with curl, the length of a pipe may be stated: it fails if that is not true.
      let length = try request.headers.asksForChunks() ? nil : request.headers.statedLength()
      let body = try StandardInput.body(length: length, for: spelling)
      return PlannedBytes(
        body: body, type: type ?? (hasNoType ? .octetStream : nil), filename: "-",
        origin: "from standard input", hasNoType: hasNoType)
    }
    guard !path.bytes.isEmpty else {
      throw .usage("There is no path after \(spelling): name a file, or - for standard input.")
    }
    try StandardInput.check(path.path, for: spelling)
    if isDirectory(path.path) {
      throw Failure(
        .noInput,
        "The path \"\(path.shown)\"\(spelling == "a file" ? "" : " of \(spelling)") is a directory: \"formstream send --put\" sends the files in it, each to its own URL."
      )
    }
    try path.checkTypedPath(for: spelling)
    return PlannedBytes(
      body: .file(path.path), type: type ?? (hasNoType ? .octetStream : nil),
      filename: path.path.lastComponent,
      origin: "from the file \(path.shown)", uploadedFile: path.path.lastComponent,
      hasNoType: hasNoType, subject: path.shown)
  }

  /// The type of `--type` after `-T`; nil if there is none.
  private func uploadType() throws(Failure) -> MediaType? {
    guard let argument = request.uploadType else { return nil }
    guard let type = MediaType(try argument.text(for: "--type")) else {
      throw .usage("\(argument.named("--type")) is not a media type: write it like image/png.")
    }
    return type
  }
}
