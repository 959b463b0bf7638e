import FormStreamMultipart

/// A body without its contents: every delimiter and header, and the offset and size of each part.
struct BodyOutline {
  private(set) var text = ""

  /// - Parameters:
  ///   - type: the request's `Content-Type` if it is not the body's own; empty if the request has none.
  ///   - coding: how the body is coded while it is sent; nil if it is sent as it is.
  ///   - isInChunks: whether the body is sent in chunks although its length may be known.
  ///   - origins: where each part's bytes come from.
  init(
    of layout: BodyLayout, type: String? = nil, coding: String? = nil, isInChunks: Bool = false,
    origins: [String]
  ) {
    if type != "" { line("Content-Type: \(type ?? layout.contentType)") }
    let length = layout.contentLength.map(String.init) ?? "unknown"
    line(
      isInChunks
        ? "Transfer-Encoding: chunked"
        : "Content-Length: \(coding.map { "unknown (\(length) before \($0))" } ?? length)")
    line("")
    guard let form = layout.form else {
      line(offsetText(0) + "[\(Self.size(layout.contentLength)), \(origins.joined())]")
      return
    }
    var end: Int64? = 0
    for index in 0..<layout.partCount {
      let placed = layout.placedPart(at: index)
      line(offsetText(placed.offset) + "--\(form.boundary)")
      for header in placed.headers.split(separator: "\r\n") {
        line(Self.margin + header)
      }
      line(offsetText(placed.bodyOffset) + "[\(Self.size(placed.bodyLength)), \(origins[index])]")
      end =
        if let start = placed.bodyOffset, let length = placed.bodyLength { start + length } else {
          nil
        }
    }
    line(offsetText(end) + "--\(form.boundary)--")
  }

  private static let margin = String(repeating: " ", count: 14)

  private static func size(_ length: Int64?) -> String {
    length.map { $0 == 1 ? "1 byte" : "\($0) bytes" } ?? "unknown length"
  }

  private func offsetText(_ offset: Int64?) -> String {
    let text = "@" + (offset.map(String.init) ?? "unknown")
    return text + Self.margin.dropFirst(min(text.count, Self.margin.count - 1))
  }

  private mutating func line(_ line: String) {
    text += visible(line) + "\n"
  }
}
