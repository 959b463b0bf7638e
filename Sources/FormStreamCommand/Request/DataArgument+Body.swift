import FormStreamMultipart

/// The data of `-d` and similar flags, with the same meaning as in curl.
extension DataArgument {
  /// The largest body that is put together in memory. A single file sent unchanged doesn't count: it is streamed.
  private static let maximumSize = 64 * 1024 * 1024

  /// The flag as it was typed, for messages.
  var flag: String { argument.flag ?? spelling }

  var spelling: String {
    switch kind {
    case .text: "-d"
    case .raw: "--data-raw"
    case .binary: "--data-binary"
    case .encoded: "--data-urlencode"
    }
  }

  var isStandardInput: Bool {
    switch kind {
    case .text, .binary: DataOrFile(argument, of: flag).file?.isDash ?? false
    case .raw: false
    case .encoded: EncodedData(argument).file?.isDash ?? false
    }
  }

  private static let type: MediaType = "application/x-www-form-urlencoded"

  /// Takes the place of standard input if nothing is sent, so that standard input is not read.
  static let unread = PlannedBytes(
    body: .descriptor(0), type: type, filename: "", origin: "from standard input")

  /// Whether the data is read only while it is sent.
  static func isStreamed(_ pieces: [DataArgument]) -> Bool {
    pieces.count == 1 && pieces[0].kind == .binary
  }

  static func body(of pieces: [DataArgument]) throws(Failure) -> PlannedBytes {
    if isStreamed(pieces) {
      return try DataOrFile(pieces[0].argument, of: pieces[0].flag).streamed(as: type)
    }
    var bytes: [UInt8] = []
    for (index, piece) in pieces.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: "&")) }
      bytes += try piece.bytes()
      try checkSize(of: bytes, for: piece.flag)
    }
    let isTyped = pieces.allSatisfy { $0.file == nil }
    return PlannedBytes(
      body: .bytes(bytes), type: type, filename: "",
      origin: isTyped ? "from the command line" : "from the command line and files")
  }

  /// The file that is read; nil if the data was typed.
  var file: Argument? {
    switch kind {
    case .raw: nil
    case .text, .binary: DataOrFile(argument, of: flag).file
    case .encoded: EncodedData(argument).file
    }
  }

  /// The piece as it is sent. A file is read completely.
  func bytes() throws(Failure) -> [UInt8] {
    switch kind {
    case .raw: return argument.bytes
    case .binary: return try DataOrFile(argument, of: flag).contents()
    case .text:
      let data = DataOrFile(argument, of: flag)
      let contents = try data.contents()
      guard let file = data.file else { return contents }
      try checkText(contents, of: file)
      return contents.filter { $0 != 13 && $0 != 10 }
    case .encoded:
      let data = EncodedData(argument)
      let content =
        if let file = data.file { try DataArgument.contents(of: file, for: flag) } else {
          data.content
        }
      let encoded = Array(PercentEncoding.unreservedWithPlus.encoded(content).utf8)
      return data.name.isEmpty ? encoded : data.name + [UInt8(ascii: "=")] + encoded
    }
  }

  /// Fails if a file of `-d` is not text. As in curl, line breaks are left out, so the server would get a different
  /// file.
  private func checkText(_ contents: [UInt8], of file: Argument) throws(Failure) {
    let fault =
      contents.contains(0)
      ? "has a NUL in it"
      : String(validating: contents, as: UTF8.self) == nil ? "is not UTF-8" : nil
    guard let fault else { return }
    let name = file.isDash ? "Standard input" : "The file \"\(file.shown)\" of \(flag)"
    throw .usage(
      "\(name) \(fault), so it is no text that can be sent without its line breaks: use --data-binary, which sends it as it is."
    )
  }

  /// The value of `--data-urlencode`, split at the first `=`; if there is none, at the first `@`.
  private struct EncodedData {
    var name: [UInt8] = []
    var content: [UInt8] = []
    var file: Argument?

    init(_ argument: Argument) {
      let bytes = argument.bytes
      let mark = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.firstIndex(of: UInt8(ascii: "@"))
      guard let mark else {
        content = bytes
        return
      }
      name = Array(bytes[..<mark])
      content = Array(bytes[(mark + 1)...])
      if bytes[mark] == UInt8(ascii: "@") { file = Argument(bytes: content) }
    }
  }

  static func contents(
    of file: Argument, for flag: String, limit: Int = maximumSize
  ) throws(Failure) -> [UInt8] {
    guard !file.isDash else {
      do throws(SystemError) {
        let bytes = try contentsOfStandardInput(upTo: limit)
        if bytes.count <= limit { return bytes }
      } catch {
        throw Failure(
          .noInput,
          "Standard input can't be read for \(flag): \(error). Redirect it with < or |.")
      }
      throw tooLarge(flag)
    }
    return try readSmallFile(file.path, for: flag, limit: limit)
  }

  /// Fails if a body is larger than the limit for bodies that are put together in memory.
  static func checkSize(of body: [UInt8], for flag: String) throws(Failure) {
    guard body.count <= maximumSize else { throw tooLarge(flag) }
  }

  private static func tooLarge(_ flag: String) -> Failure {
    .usage(
      "The data of \(flag) has more than \(maximumSize) bytes: -T and a single --data-binary send files of "
        + "any size.")
  }
}

/// The value of a flag: typed data, or a file after `@`.
struct DataOrFile {
  private let argument: Argument
  private let flag: String

  init(_ argument: Argument, of flag: String) {
    self.argument = argument
    self.flag = flag
  }

  /// The file; nil if the value does not begin with `@`.
  var file: Argument? {
    argument.bytes.first == UInt8(ascii: "@") ? Argument(bytes: argument.bytes.dropFirst()) : nil
  }

  func contents() throws(Failure) -> [UInt8] {
    guard let file else { return argument.bytes }
    return try DataArgument.contents(of: file, for: flag)
  }

  /// A body whose file is read only while it is sent.
  func streamed(as type: MediaType) throws(Failure) -> PlannedBytes {
    guard let file else {
      return PlannedBytes(
        body: .bytes(argument.bytes), type: type, filename: "", origin: "from the command line")
    }
    if file.isDash {
      return PlannedBytes(
        body: try StandardInput.body(for: flag), type: type, filename: "-",
        origin: "from standard input")
    }
    guard !file.bytes.isEmpty else {
      throw .usage("There is no path after @ in \(flag): name a file, or - for standard input.")
    }
    try StandardInput.check(file.path, for: flag)
    return PlannedBytes(
      body: .file(file.path), type: type, filename: file.path.lastComponent,
      origin: "from the file \(file.shown)")
  }
}
