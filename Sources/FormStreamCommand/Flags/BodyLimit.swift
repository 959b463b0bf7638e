import FormStreamMultipart

/// A limit for bodies, by its name on the command line.
enum BodyLimit: String, CaseIterable {
  case boundary
  case headerBlock = "header-block"
  case headers
  case allHeaders = "all-headers"
  case parts
  case preamble
  case epilogue
  case partBytes = "part-bytes"
  case body

  var meaning: String {
    let limits = FormParser.Limits()
    return switch self {
    case .boundary: "bytes of the boundary (\(limits.boundary))"
    case .headerBlock: "bytes of a part's headers (\(limits.headerBlock))"
    case .headers: "headers of a part (\(limits.headersPerPart))"
    case .allHeaders: "bytes of all headers (\(limits.allHeaders))"
    case .parts: "parts (\(limits.parts))"
    case .preamble: "bytes before the first part (\(limits.preamble))"
    case .epilogue: "bytes after the last part (\(limits.epilogue))"
    case .partBytes: "bytes of a part (no limit)"
    case .body: "bytes in all (no limit)"
    }
  }

  /// The limit that a message of the library names.
  init(_ name: FormParser.Limits.Name) {
    self =
      switch name {
      case .boundary: .boundary
      case .headerBlock: .headerBlock
      case .headersPerPart: .headers
      case .allHeaders: .allHeaders
      case .parts: .parts
      case .preamble: .preamble
      case .epilogue: .epilogue
      case .partBytes: .partBytes
      case .totalBytes: .body
      }
  }

  /// The limit and the number in `NAME=N`.
  static func value(
    of argument: Argument
  ) throws(Failure) -> (limit: BodyLimit, number: Int64) {
    guard let (name, text) = argument.splitAtEquals() else {
      throw .usage(
        "\(argument.named("--limit")) has no = in it: write --limit NAME=N, such as parts=100.")
    }
    guard let limit = BodyLimit(rawValue: name.shown) else {
      let known = allCases.map(\.rawValue)
      throw .usage(
        "\(name.named("--limit")) is not a limit: choose one of \(known.joined(separator: ", "))."
          + Suggestion.text(for: name.shown, among: known))
    }
    guard let number = Int64(size: text.shown) else {
      let value = Argument(bytes: text.bytes, place: text.place)
      throw .usage(
        "\(value.named("--limit \(limit.rawValue)")) is not a size: write a number, with or without K, M, G or T at "
          + "the end, such as 10M.")
    }
    return (limit, number)
  }
}

extension FormParser.Limits {
  /// Changes the limits that were typed. All other limits keep the library's values.
  mutating func set(_ typed: [BodyLimit: Int64]) {
    for (limit, number) in typed {
      switch limit {
      case .boundary: boundary = Int(clamping: number)
      case .headerBlock: headerBlock = Int(clamping: number)
      case .headers: headersPerPart = Int(clamping: number)
      case .allHeaders: allHeaders = number
      case .parts: parts = Int(clamping: number)
      case .preamble: preamble = number
      case .epilogue: epilogue = number
      case .partBytes: partBytes = number
      case .body: totalBytes = number
      }
    }
  }
}
