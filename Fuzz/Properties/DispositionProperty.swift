import FormStreamMultipart

/// The input: 3 bytes for a repetition (see ``Choices/restOrStretch()``), then the value of the
/// header.
func checkDisposition(_ choices: inout Choices) throws {
  let (value, isStretched) = choices.restOrStretch()
  let unknown = ContentDisposition(parsing: value)
  if let unknown { try checkType(of: unknown) }
  guard !isStretched else { return }
  for escaping in EscapingProfile.all {
    guard let read = ContentDisposition(parsing: value, escaping: escaping) else { continue }
    try checkType(of: read)
    // If the sender isn't known, a backslash may be read as an ordinary character.
    if escaping != .backslash {
      try hold(unknown != nil, "only \(escaping) reads it: \(read)")
    }
    try checkRewritten(read, escaping)
  }
  Planted.trap(unknown)
}

private func checkType(of read: ContentDisposition) throws {
  let isToken = read.type.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3B && $0 != 0x22 }
  try hold(!read.type.isEmpty && isToken, "the type is \(read.type.debugDescription)")
  try hold(read.type == read.type.lowercased(), "\(read.type) is not in lower case")
}

/// Names that were read with a profile, and are written with it again, are read the same: a name
/// that was read contains no escapes of the profile.
private func checkRewritten(_ read: ContentDisposition, _ escaping: EscapingProfile) throws {
  let name = read.name ?? ""
  let part = Part(name: name, filename: read.filename, type: "a/b", body: .text(""))
  let form = Form(boundary: try Boundary("Z"), escaping: escaping, parts: [part])
  let layout: BodyLayout
  do {
    layout = try form.layout(detector: NoDetection())
  } catch {
    try hold(error.isJustified(by: part, escaping), "\(error) of \(read)")
    return
  }
  let line = layout.placedPart(at: 0).headers.utf8.prefix { $0 != 0x0D }
  let value = Array(line.dropFirst("Content-Disposition: ".utf8.count))
  let again = ContentDisposition(parsing: value, escaping: escaping)
  try hold(
    again?.name.bytes == Array(name.utf8).normalised(for: escaping)
      && again?.filename.bytes == read.filename.bytes,
    "\(read) by \(escaping) was read again as \(String(describing: again))")
}

extension MultipartError {
  /// Whether the names of a part are a reason for this error of the encoder.
  func isJustified(by part: Part, _ escaping: EscapingProfile) -> Bool {
    switch code {
    case .invalidName: !part.name.canBeWritten(by: escaping)
    case .invalidFilename: !(part.filename ?? "").canBeWritten(by: escaping)
    // The longest escape has three bytes for one, and `filename*` writes the name a second time.
    case .headersTooLarge:
      8 * (part.name.utf8.count + (part.filename ?? "").utf8.count)
        + 4 * (part.type?.description ?? "").utf8.count
        + part.headers.reduce(256) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        > Part.maximumHeaderBlockSize
    default: false
    }
  }
}

extension String {
  func canBeWritten(by escaping: EscapingProfile) -> Bool {
    utf8.allSatisfy {
      $0 != 0x00 && (escaping != .backslash || ($0 != 0x0A && $0 != 0x0D))
    }
  }
}

extension [UInt8] {
  /// WHATWG HTML: in names, each lone CR or LF becomes CRLF. The profile `backslash` has neither.
  func normalised(for escaping: EscapingProfile) -> [UInt8] {
    guard escaping != .backslash else { return self }
    var result: [UInt8] = []
    for (index, byte) in enumerated() {
      if byte == 0x0A, index == 0 || self[index - 1] != 0x0D { result.append(0x0D) }
      result.append(byte)
      if byte == 0x0D, index + 1 == count || self[index + 1] != 0x0A { result.append(0x0A) }
    }
    return result
  }
}
