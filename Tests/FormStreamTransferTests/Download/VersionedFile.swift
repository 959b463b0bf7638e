import FormStreamPlatform
import FormStreamTestSupport

/// A server's file that changes after its first response, and the ways in which servers handle requests for a part of it.
struct VersionedFile: Sendable {
  enum Tag: CaseIterable { case strong, weak, rotating, missing }
  enum Modified: CaseIterable {
    /// Within the second in which it was requested: it may change again in that second.
    case fresh
    case old, missing
  }
  enum Change: CaseIterable { case none, sameLength, shorter, muchShorter, longer }

  var tag = Tag.strong
  var modified = Modified.old
  var change = Change.none
  var ignoresRange = false
  var ignoresIfRange = false
  /// After how many bytes the first response is cut; nil for none.
  var cut: Int? = 100_000

  static let original = noise(300_000, seed: 1)

  /// All combinations.
  static var all: [VersionedFile] {
    Tag.allCases.flatMap { tag in
      Modified.allCases.flatMap { modified in
        Change.allCases.flatMap { change in
          [(false, false), (true, false), (false, true)].map { ignored in
            VersionedFile(
              tag: tag, modified: modified, change: change, ignoresRange: ignored.0,
              ignoresIfRange: ignored.1)
          }
        }
      }
    }
  }

  /// Whether RFC 9110 has something that recognizes the version.
  var hasValidator: Bool { tag == .strong || tag == .missing && modified == .old }

  /// The contents after the first response.
  var changed: [UInt8] {
    switch change {
    case .none: Self.original
    case .sameLength: noise(Self.original.count, seed: 2)
    case .shorter: noise(150_000, seed: 3)
    // Shorter than what has arrived.
    case .muchShorter: noise(50_000, seed: 5)
    case .longer: noise(400_000, seed: 4)
    }
  }

  /// What the server does with a request.
  func steps(for request: RecordedRequest) -> [ScriptedStep] {
    let isFirst = request.number == 0
    let isOriginal = isFirst || change == .none
    let bytes = isOriginal ? Self.original : changed
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    var headers = [("Date", date)]
    let tag: String? =
      switch tag {
      case .strong: "\"\(isOriginal ? 1 : 2)\""
      case .weak: "W/\"\(isOriginal ? 1 : 2)\""
      case .rotating: "\"r\(request.number)\""
      case .missing: nil
      }
    if let tag { headers.append(("ETag", tag)) }
    let modified: String? =
      switch modified {
      case .fresh: date
      case .old: "Sun, 06 Nov 1994 0\(isOriginal ? 6 : 7):49:37 GMT"
      case .missing: nil
      }
    if let modified { headers.append(("Last-Modified", modified)) }
    if let start = request.rangeStart, !ignoresRange {
      let condition = request.header("If-Range")
      if ignoresIfRange || condition == nil || condition == tag || condition == modified {
        guard start < bytes.count else {
          headers.append(("Content-Range", "bytes */\(bytes.count)"))
          return [.respond(416, headers: headers, body: "no such range")]
        }
        headers.append(("Content-Range", "bytes \(start)-\(bytes.count - 1)/\(bytes.count)"))
        return [.respond(206, headers: headers, bytes: Array(bytes[start...]))]
      }
    }
    guard isFirst, let cut else { return [.respond(200, headers: headers, bytes: bytes)] }
    return [
      .respond(
        200, headers: headers, bytes: Array(bytes.prefix(cut)), framing: .announced(bytes.count)),
      .close,
    ]
  }
}

extension RecordedRequest {
  /// The start of the range that is asked for, if it is `bytes=N-`.
  var rangeStart: Int? {
    guard let range = header("Range"), range.hasPrefix("bytes="), range.hasSuffix("-") else {
      return nil
    }
    return Int(range.dropFirst("bytes=".count).dropLast())
  }
}
