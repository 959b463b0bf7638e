import FormStreamMultipart
import FormStreamReceiver

/// The flags that say what a body is read as; every command that reads one knows them.
extension Flag {
  static let readingFlags = [
    Flag(
      long: "content-type", value: Value(placeholder: "TYPE"), group: .reading, verbs: [.parse],
      summary: "The Content-Type that came with the body; it names the boundary",
      detail: """
        The whole header line will do, too. Parts of a type other than multipart/form-data, such as \
        multipart/mixed, need no names.
        """
    ) { (typed, argument) throws(Failure) in
      typed.contentType = try argument.text(for: "--content-type")
    },
    Flag(
      long: "bare-lf", group: .reading, verbs: [.parse],
      summary: "Take LF alone for a line's end, as in bodies made by hand"
    ) { (typed, _) in typed.allowsBareLF = true },
    Flag(
      long: "limit", value: Value(placeholder: "NAME=N"), group: .reading,
      verbs: [.parse, .receive],
      summary: "How much a body may ask for, such as parts=100; can be repeated",
      detail: """
        N may end in K, M, G or T, for powers of 1024. A body that asks for more is refused at once. \
        The limits, with what they are where none is given: \(BodyLimit.allCases.map { "\($0.rawValue), \($0.meaning)" }.joined(separator: "; ")). \
        For receive, all-headers is \(Receiver.Limits().form.allHeaders) where none is given.
        """
    ) { (typed, argument) throws(Failure) in
      typed.givenLimits.insert(try BodyLimit.set(argument, in: &typed.limits))
    },
  ]
}

/// A limit by the name that it has on the command line.
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
    case .epilogue: "bytes behind the last (\(limits.epilogue))"
    case .partBytes: "bytes of a part (no limit)"
    case .body: "bytes in all (no limit)"
    }
  }

  /// Takes `NAME=N` for what it says, and tells which limit that is.
  static func set(
    _ argument: Argument, in limits: inout FormParser.Limits
  ) throws(Failure) -> BodyLimit {
    guard let (name, text) = argument.splitAtEquals() else {
      throw .usage(
        "--limit \"\(argument.shown)\" has no = in it: write --limit NAME=N, such as parts=100.")
    }
    guard let limit = BodyLimit(rawValue: name.shown) else {
      let known = allCases.map(\.rawValue)
      throw .usage(
        "--limit \"\(name.shown)\" is nothing that has a limit: choose one of "
          + "\(known.joined(separator: ", ")).\(Suggestion.text(for: name.shown, among: known))")
    }
    guard let number = Int64(size: text.shown) else {
      throw .usage(
        "--limit \(limit.rawValue) can't be \"\(text.shown)\": write a number up to \(Int64.max), with or "
          + "without K, M, G or T behind it.")
    }
    switch limit {
    case .boundary: limits.boundary = Int(clamping: number)
    case .headerBlock: limits.headerBlock = Int(clamping: number)
    case .headers: limits.headersPerPart = Int(clamping: number)
    case .allHeaders: limits.allHeaders = number
    case .parts: limits.parts = Int(clamping: number)
    case .preamble: limits.preamble = number
    case .epilogue: limits.epilogue = number
    case .partBytes: limits.partBytes = number
    case .body: limits.totalBytes = number
    }
    return limit
  }
}

extension Int64 {
  /// A number of things as people type it: `100`, `64K`; nil where it is none, or too large.
  init?(size text: String) {
    let shift =
      switch text.last {
      case "K", "k": 10
      case "M", "m": 20
      case "G", "g": 30
      case "T", "t": 40
      default: 0
      }
    let digits = text.dropLast(shift > 0 ? 1 : 0)
    guard digits.isASCIIDigits, let number = Int64(digits) else { return nil }
    let (size, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
    guard !overflow else { return nil }
    self = size
  }
}
