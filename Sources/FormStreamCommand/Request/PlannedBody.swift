import FormStreamMediaTypes
import FormStreamMultipart

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

  /// Finds out which disk stores the body's first file. This may block, so it is done while signals still end the
  /// process.
  func noteDisk() {
    switch self {
    case .none: return
    case .form(let form): form.form.noteDisk()
    case .raw(let bytes): bytes.body.noteDisk()
    }
  }

  /// The name of the file that is the complete body; nil if the body is anything else.
  var filename: String? {
    if case .raw(let bytes) = self { bytes.uploadedFile } else { nil }
  }
}

/// A body that is not a form.
struct PlannedBytes {
  var body: PartBody
  /// The body's type; nil if it must be detected.
  let type: MediaType?
  /// The name that helps to detect the type, in addition to the contents.
  let filename: String
  /// Where the bytes come from, in words.
  let origin: String
  /// The name of the file that is the complete body; nil if it is a pipe or there is none.
  var uploadedFile: String?
  /// Whether the body is sent without a type, as curl's `-T` does.
  var hasNoType = false
  /// The path of the file that is the complete body, for messages.
  var subject: String?

  /// The body's type, detected in the same way as the type of a file in a form.
  func type(by detector: any MediaTypeDetector) throws(Failure) -> MediaType {
    if let type { return type }
    let form = Form(parts: [Part(name: "", filename: filename, body: body)])
    let layout = try convertingErrors { () throws(MultipartError) in
      try form.layout(detector: detector)
    }
    return layout.placedPart(at: 0).type ?? .octetStream
  }
}

extension PlannedBody {
  /// - Parameters:
  ///   - file: the file that is the complete body; nil if there is none.
  ///   - detectsTypes: whether a flag asks for the detection of types.
  init(
    _ form: FormArguments, _ arguments: RequestArguments, of file: PlannedTarget.SentFile?,
    detectsTypes: Bool, _ input: InputReader
  ) throws(Failure) {
    var kinds: [String] = []
    if let part = form.parts.first { kinds.append(part.spelling) }
    if let file { kinds.append(file.spelling) }
    if !arguments.putsDataIntoURL, let piece = arguments.data.first { kinds.append(piece.flag) }
    if let json = arguments.json.first { kinds.append(json.flag ?? "--json-body") }
    guard kinds.count < 2 else {
      throw .usage(
        "\(kinds[0]) and \(kinds[1]) make two different bodies, and a request has one: leave one out."
      )
    }
    if !form.parts.isEmpty {
      self = .form(try PlannedForm(form))
      return
    }
    var bytes: PlannedBytes
    if let file {
      bytes = try PlannedBytes(file, arguments, detectsTypes: detectsTypes)
    } else if !arguments.json.isEmpty {
      bytes = try PlannedBytes(json: arguments.json, input)
    } else if !arguments.data.isEmpty, !arguments.putsDataIntoURL {
      bytes = try PlannedBytes(data: arguments.data, input)
    } else {
      self = .none
      return
    }
    if form.growth != .refused { bytes.body = bytes.body.growing(form.growth) }
    self = .raw(bytes)
  }

  /// Fails if the flags that choose a method don't agree with the body.
  func checkMethod(_ arguments: RequestArguments) throws(Failure) {
    if case .none = self { return }
    guard !arguments.asksForHead else {
      throw .usage(
        "-I asks for the head of a response, and sends no body: leave the data out, or put it into the URL with -G."
      )
    }
    guard !arguments.putsDataIntoURL else {
      throw .usage(
        "-G puts the data of -d into the URL, and nothing else: leave out -F, -T and --json-body.")
    }
  }
}

extension PlannedBytes {
  fileprivate init(data: [DataArgument], _ input: InputReader) throws(Failure) {
    let isStandardInput = data.contains(where: \.isStandardInput)
    guard input.readsStandardInput || !isStandardInput else {
      self = DataArgument.unread
      return
    }
    if isStandardInput, !DataArgument.isStreamed(data) { input.announceKeyboard() }
    self = try DataArgument.body(of: data)
  }

  fileprivate init(json: [Argument], _ input: InputReader) throws(Failure) {
    let pieces = json.map { DataOrFile($0, of: $0.flag ?? "--json-body") }
    if pieces.count == 1 {
      self = try pieces[0].streamed(as: "application/json")
      return
    }
    let isLeftOut = { (piece: DataOrFile) in piece.file.map(input.leavesOut) ?? false }
    if input.readsStandardInput, pieces.contains(where: { $0.file?.isDash == true }) {
      input.announceKeyboard()
    }
    var bytes: [UInt8] = []
    for piece in pieces where !isLeftOut(piece) {
      bytes += try piece.contents()
      try DataArgument.checkSize(of: bytes, for: "--json-body")
    }
    self.init(
      body: .bytes(bytes), type: "application/json", filename: "",
      origin: "from the command line and files")
  }

  /// A body that consists of the bytes of a file.
  fileprivate init(
    _ file: PlannedTarget.SentFile, _ arguments: RequestArguments, detectsTypes: Bool
  ) throws(Failure) {
    let (path, spelling) = (file.path, file.spelling)
    // Only a file of -T follows curl's rules. A file that is typed without -T has no flag.
    let isCurls = path.flag != nil
    let type = try isCurls ? Self.type(arguments.uploadType) : nil
    let hasNoType = isCurls && type == nil && !detectsTypes
    if path.isDash {
      // As with curl, the length of a pipe may be stated. The request fails if the stated length is wrong.
      let length = try arguments.headers.asksForChunks() ? nil : arguments.headers.statedLength()
      self.init(
        body: try StandardInput.body(length: length, for: spelling),
        type: type ?? (hasNoType ? .octetStream : nil), filename: "-",
        origin: "from standard input", hasNoType: hasNoType)
      return
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
    self.init(
      body: .file(path.path), type: type ?? (hasNoType ? .octetStream : nil),
      filename: path.path.lastComponent,
      origin: "from the file \(path.shown)", uploadedFile: path.path.lastComponent,
      hasNoType: hasNoType, subject: path.shown)
  }

  /// The type of `--type` after `-T`; nil if there is none.
  private static func type(_ argument: Argument?) throws(Failure) -> MediaType? {
    guard let argument else { return nil }
    guard let type = MediaType(try argument.text(for: "--type")) else {
      throw .usage("\(argument.named("--type")) is not a media type: write it like image/png.")
    }
    return type
  }
}
