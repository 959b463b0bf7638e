import FormStreamMultipart
import FormStreamTestSupport

/// A part that the fuzzer chose, and the expected result.
struct PlannedPart {
  private enum Source {
    case text, memory, stream, streamOfUnknownLength
    case form(PlannedForm)
  }

  let name: String
  let filename: String?
  let type: String?
  let bytes: [UInt8]
  private let headers: [(name: String, value: String)]
  private let source: Source

  /// The form inside the part, if any.
  var inner: PlannedForm? {
    if case .form(let form) = source { form } else { nil }
  }

  init(chosenBy choices: inout Choices, depth: Int) {
    let flags = choices.byte()
    name = choices.text()
    // Some are so long that headers exceed their limit, and contents the size that is copied into
    // the literal bytes.
    let times = flags & 1 == 0 ? 1 : 64
    filename = flags & 2 == 0 ? nil : String(repeating: choices.text(), count: times)
    headers = (0..<Int(flags >> 2 & 3)).map { _ in (choices.text(), choices.text()) }
    let hasType = flags & 16 != 0
    switch flags >> 5 {
    case 1: source = .memory
    case 2: source = .stream
    case 3: source = .streamOfUnknownLength
    case 4 where depth < 2: source = .form(PlannedForm(chosenBy: &choices, depth: depth + 1))
    default: source = .text
    }
    if case .form = source {
      // Other types are refused, and so are boundaries: unit tests cover that.
      type = hasType ? "multipart/alternative; a=\"b\"" : nil
      bytes = []
      return
    }
    type = hasType ? choices.text() : nil
    let text = choices.bytes(choices.place() % 1024)
    bytes = Array(repeatElement(text, count: times).joined())
  }

  /// Everything that may contain a boundary.
  var texts: [[UInt8]] {
    let lines = headers.map { "\($0.name): \($0.value)" }
    return [bytes, Array(text.utf8)]
      + ([name, filename ?? "", type ?? ""] + lines).map { Array($0.utf8) }
  }

  /// Nil if a header or the contents are not valid.
  func part() throws -> Part? {
    let headers = HTTPHeaders(self.headers)
    do {
      try headers.checkOfPart()
    } catch {
      try hold(error.code == .invalidHeader, "\(self.headers): \(error)")
      return nil
    }
    let body: PartBody
    switch source {
    case .text: body = .text(text)
    case .memory: body = .bytes(bytes)
    case .stream: body = .stream(length: Int64(bytes.count)) { [bytes] in OneByteSource(bytes) }
    case .streamOfUnknownLength: body = .stream { [bytes] in StaccatoSource(bytes, seed: 1) }
    case .form(let inner):
      guard let form = try inner.form() else { return nil }
      body = .form(form)
    }
    return Part(
      name: name, filename: filename, type: type.map(MediaType.init(stringLiteral:)),
      headers: headers, body: body)
  }

  private var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Compares the parsed part with the chosen one.
  func check(_ read: ParserRun.Part, from form: PlannedForm) throws {
    let escaping = form.escaping
    try hold(
      read.head.name.bytes == expectedName(escaping)
        && read.head.filename.bytes == expectedFilename(escaping),
      "\(self) by \(escaping) came as \(read)")
    try hold(read.isComplete, "not whole: \(read)")

    let extra = read.head.headers.filter {
      !["Content-Disposition", "Content-Type"].contains($0.name)
    }
    try hold(
      extra.count == headers.count
        && zip(extra, headers).allSatisfy { read, sent in
          read.name == sent.name && read.bytes == Array(sent.value.utf8).trimmed
        }, "\(headers) came as \(extra)")
    guard inner == nil else { return }
    let type = type ?? (filename == nil ? nil : "application/octet-stream")
    try hold(read.head.contentType.bytes == type.bytes, "\(self) came as \(read)")
    try hold(read.body == expectedBody(form), "\(self) came as \(read)")
  }

  private func expectedBody(_ form: PlannedForm) -> [UInt8] {
    guard case .text = source else { return bytes }
    let text = Array(text.utf8)
    // WHATWG HTML normalizes values as it does names.
    return form.browserText ? text.normalised(for: .browser) : text
  }

  private func expectedName(_ escaping: EscapingProfile) -> [UInt8] {
    let name = Array(name.utf8).normalised(for: escaping)
    return escaping == .backslash ? name : name.withItsOwnCodesRead
  }

  private func expectedFilename(_ escaping: EscapingProfile) -> [UInt8]? {
    // `percent` escapes the percent sign; `rfc2231` sends `filename*` if the name contains one.
    escaping == .browser ? filename.bytes?.withItsOwnCodesRead : filename.bytes
  }
}

extension [UInt8] {
  /// Browsers don't escape the percent sign, so text that looks like one of their escapes is read
  /// as one.
  fileprivate var withItsOwnCodesRead: [UInt8] {
    var result: [UInt8] = []
    var rest = self[...]
    while let byte = rest.first {
      let codes: [(code: String, byte: UInt8)] = [
        ("%22", 0x22), ("%0d", 0x0D), ("%0D", 0x0D), ("%0a", 0x0A), ("%0A", 0x0A),
      ]
      let found = codes.first { rest.starts(with: $0.code.utf8) }
      result.append(found?.byte ?? byte)
      rest = rest.dropFirst(found == nil ? 1 : 3)
    }
    return result
  }

  /// Blanks around the value of a header are not part of it.
  fileprivate var trimmed: [UInt8] {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    return Array(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }
}
