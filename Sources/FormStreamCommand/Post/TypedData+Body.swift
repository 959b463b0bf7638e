import FormStreamMultipart

/// The data of `-d` and its kin, as curl understands it.
extension TypedData {
  /// The most that is put together in memory. A single file that goes out as it is, is streamed.
  fileprivate static let maximumSize = 64 * 1024 * 1024

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
    case .text, .binary: argument.bytes == Array("@-".utf8)
    case .raw: false
    case .encoded: Shape(argument).file?.bytes == Array("-".utf8)
    }
  }

  private static let type: MediaType = "application/x-www-form-urlencoded"

  /// What stands for standard input where it is left for whoever sends it.
  static let unread = PlannedBytes(
    body: .descriptor(0), type: type, filename: "", origin: "from standard input")

  static func body(of pieces: [TypedData]) throws(Failure) -> PlannedBytes {
    if pieces.count == 1, pieces[0].kind == .binary {
      return try WholeData(pieces[0].argument, of: pieces[0].spelling).streamed(as: type)
    }
    var bytes: [UInt8] = []
    for (index, piece) in pieces.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: "&")) }
      bytes += try piece.bytes()
      guard bytes.count <= maximumSize else { throw tooLarge(piece.spelling) }
    }
    let isTyped = pieces.allSatisfy { $0.file == nil }
    return PlannedBytes(
      body: .bytes(bytes), type: type, filename: "",
      origin: isTyped ? "from the command line" : "from the command line and files")
  }

  private var file: Argument? {
    switch kind {
    case .raw: nil
    case .text, .binary: WholeData(argument, of: spelling).file
    case .encoded: Shape(argument).file
    }
  }

  private func bytes() throws(Failure) -> [UInt8] {
    switch kind {
    case .raw: return argument.bytes
    case .binary: return try WholeData(argument, of: spelling).contents()
    case .text:
      let data = WholeData(argument, of: spelling)
      let contents = try data.contents()
      return data.file == nil ? contents : contents.filter { $0 != 13 && $0 != 10 && $0 != 0 }
    case .encoded:
      let shape = Shape(argument)
      let content =
        if let file = shape.file { try TypedData.contents(of: file, for: spelling) } else {
          shape.content
        }
      let encoded = Array(PercentEncoding.unreservedWithPlus.encoded(content).utf8)
      return shape.name.isEmpty ? encoded : shape.name + [UInt8(ascii: "=")] + encoded
    }
  }

  /// What stands before and behind the mark of `--data-urlencode`: the first `=`, or where there is none, the
  /// first `@`.
  private struct Shape {
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

  fileprivate static func contents(of file: Argument, for flag: String) throws(Failure) -> [UInt8] {
    guard file.bytes != Array("-".utf8) else {
      do throws(SystemError) {
        let bytes = try contentsOfStandardInput(upTo: maximumSize)
        if bytes.count <= maximumSize { return bytes }
      } catch {
        throw Failure(
          .noInput,
          "Standard input can't be read for \(flag): \(error). Give it something with < or |.")
      }
      throw tooLarge(flag)
    }
    return try readSmallFile(file.path, for: flag, limit: maximumSize)
  }

  private static func tooLarge(_ flag: String) -> Failure {
    .usage(
      "The data of \(flag) is more than \(maximumSize) bytes: -T and a single --data-binary send files of "
        + "any size.")
  }
}

/// Data as it is: what was typed, or behind `@` a file.
struct WholeData {
  private let argument: Argument
  private let flag: String

  init(_ argument: Argument, of flag: String) {
    self.argument = argument
    self.flag = flag
  }

  /// The file, where one is named.
  var file: Argument? {
    argument.bytes.first == UInt8(ascii: "@") ? Argument(bytes: argument.bytes.dropFirst()) : nil
  }

  func contents() throws(Failure) -> [UInt8] {
    guard let file else { return argument.bytes }
    return try TypedData.contents(of: file, for: flag)
  }

  /// A body that a file is read for only as it goes out.
  func streamed(as type: MediaType) throws(Failure) -> PlannedBytes {
    guard let file else {
      return PlannedBytes(
        body: .bytes(argument.bytes), type: type, filename: "", origin: "from the command line")
    }
    if file.bytes == Array("-".utf8) {
      return PlannedBytes(
        body: try StandardInput.body(for: flag), type: type, filename: "-",
        origin: "from standard input")
    }
    guard !file.bytes.isEmpty else {
      throw .usage("There is no path behind @ in \(flag): name a file, or - for standard input.")
    }
    return PlannedBytes(
      body: .file(file.path), type: type, filename: file.path.lastComponent,
      origin: "from the file \(file.shown)")
  }
}
