import FormStreamJSON
import FormStreamPlatform

/// What a server says about a file that it did not accept: the beginning of its response, in one line.
package struct ServerWords {
  /// The most characters that are shown.
  private static let limit = 200

  /// The words, in which characters that hide or reverse text are spelled out.
  package let text: String

  /// Nil if the response says nothing.
  ///
  /// - Parameter body: the response's body, or its beginning.
  init?(_ body: some Collection<UInt8>) {
    let all = String(decoding: body, as: UTF8.self)
    var words = Self.line(all)
    // A long record, such as the receiver's, says at its end what was wrong.
    if words.count > Self.limit, let json = try? JSONValue(parsing: Array(body)), let message = Self.message(in: json) {
      words = Self.line(message)
    }
    guard !words.isEmpty else { return nil }
    let start = words.prefix(Self.limit)
    text = String(String.UnicodeScalarView(start)).displayed + (start.count < words.count ? "…" : "")
  }

  /// A message with the words after it.
  package static func adding(_ words: ServerWords?, to message: String) -> String {
    words.map { "\(message) The server says: \($0.text)" } ?? message
  }

  /// The text without line breaks, tabs and repeated blanks. A character on the screen may consist of any number of scalars, so
  /// scalars are counted.
  private static func line(_ text: String) -> [Unicode.Scalar] {
    Array(text.unicodeScalars.split { $0.properties.isWhitespace || $0 == "\0" }.joined(separator: [" "]))
  }

  /// RFC 9457 §3.1.4: "The "detail" member is a JSON string containing a human-readable explanation specific to this occurrence of
  /// the problem." Others say `message` or `error`, which may be an object with such a text.
  private static func message(in json: JSONValue) -> String? {
    for key in ["detail", "message", "error", "title"] {
      guard let value = json[key] else { continue }
      if let text = value.text, !text.isEmpty { return text }
      if value["message"] != nil || value["detail"] != nil { return message(in: value) }
    }
    return nil
  }
}

extension FileResult {
  /// What the server says about the file; nil if it says nothing, or did not refuse the file.
  private var serverWords: ServerWords? {
    guard let response, let status, !(200...299).contains(status) else { return nil }
    return ServerWords(response.body)
  }

  /// Why the file was not accepted, with the server's own words; nil if it was accepted.
  package var explanation: String? {
    error.map { ServerWords.adding(serverWords, to: $0.description) }
  }
}

extension ServerWords {
  /// What the server says in the record of a file; nil if it says nothing, or did not refuse the file.
  init?(inRecord record: JSONValue) {
    guard let status = record["status"]?.integer, !(200...299).contains(status), let body = record["response"]?["body"]?.text
    else { return nil }
    self.init(Array(body.utf8))
  }
}
