import FormStreamMultipart
import FormStreamTestSupport

/// A form that the fuzzer chose, and the expected result.
struct PlannedForm {
  let boundary: String
  let escaping: EscapingProfile
  let browserText: Bool
  let parts: [PlannedPart]

  /// Characters of boundaries: marks, and so few letters that boundaries often begin alike.
  private static let alphabet = Array("aB-'()+_,./:=? 0".utf8)

  init(chosenBy choices: inout Choices, depth: Int = 0) {
    escaping = EscapingProfile.all[choices.below(EscapingProfile.all.count)]
    browserText = choices.bool()
    let letters = choices.bytes(1 + choices.below(Boundary.maximumLength))
    boundary = String(
      decoding: letters.map { Self.alphabet[Int($0) % Self.alphabet.count] }, as: UTF8.self)
    parts = (0..<choices.below(4)).map { _ in PlannedPart(chosenBy: &choices, depth: depth) }
  }

  /// Nil if the boundary or a header is not valid.
  func form() throws -> Form? {
    guard let boundary = try? Boundary(boundary) else {
      try hold(boundary.isEmpty || boundary.last == " ", "no boundary: \(boundary)")
      return nil
    }
    var made: [Part] = []
    for part in parts {
      guard let part = try part.part() else { return nil }
      made.append(part)
    }
    return Form(boundary: boundary, escaping: escaping, browserText: browserText, parts: made)
  }

  /// All parts, with the escaping profile of their form.
  private var all: [(part: PlannedPart, escaping: EscapingProfile)] {
    parts.flatMap { [($0, escaping)] + ($0.inner?.all ?? []) }
  }

  private var boundaries: [String] {
    [boundary] + parts.flatMap { $0.inner?.boundaries ?? [] }
  }

  var isWritable: Bool {
    all.allSatisfy { part, escaping in
      part.name.canBeWritten(by: escaping) && (part.filename ?? "").canBeWritten(by: escaping)
        && part.type.map { MediaType($0) != nil } ?? true
    }
  }

  /// Whether there is a reason for an error of the encoder.
  func justifies(_ error: MultipartError) -> Bool {
    switch error.code {
    case .invalidMediaType:
      return all.contains { $0.part.type.map { MediaType($0) == nil } ?? false }
    case .boundaryCollision:
      let texts = all.flatMap(\.part.texts)
      return boundaries.enumerated().contains { index, boundary in
        let dashes = Array("--\(boundary)".utf8)
        return texts.contains { $0.contains(dashes) }
          || boundaries.enumerated().contains { other, inner in
            other != index && Array("--\(inner)--".utf8).contains(dashes)
          }
      }
    default:
      return all.contains { part, escaping in
        guard let part = try? part.part() else { return false }
        return error.isJustified(by: part, escaping)
      }
    }
  }
}

extension PlannedForm {
  /// Parses the bytes of the form and of each form in it, and compares them.
  ///
  /// - Returns: the parsed parts.
  func check(
    _ bytes: [UInt8], _ named: String, cuts: [Int], _ options: FormParser.Options
  ) throws -> [ParserRun.Part] {
    try hold(named == boundary, "the boundary \(boundary) was read as \(named)")
    var options = options
    options.escaping = escaping
    let run = try ParserRun(bytes, boundary: boundary, cuts: cuts, options: options)
    try hold(run.isComplete && run.parts.count == parts.count, "\(self) came as \(run)")
    for (read, part) in zip(run.parts, parts) {
      try part.check(read, from: self)
      let collides = read.body.contains(Array("--\(boundary)".utf8))
      try hold(!collides, "\(self) holds a delimiter in \(part)")
      guard let inner = part.inner else { continue }
      let type = read.head.contentType ?? ""
      _ = try inner.check(
        read.body, FormParser.boundary(inContentType: type) ?? "", cuts: [], options)
    }
    return run.parts
  }
}
