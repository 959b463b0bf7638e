import FormStreamDigest
import FormStreamPlatform
import FormStreamRecords

/// Compares a value of the response, which is JSON, with the file's digest or size.
package struct ResponseCheck: Sendable {
  private enum Step: Sendable {
    case key(String)
    case index(Int)
  }

  private let path: String
  private let steps: [Step]

  /// How much of a response is kept for it.
  static let maximumResponse = 1024 * 1024

  /// Parses a path such as `a.b[0].sha256`; nil if it is none.
  package init?(_ path: String) {
    var steps: [Step] = []
    for word in path.split(separator: ".", omittingEmptySubsequences: false) {
      let key = word.prefix { $0 != "[" }
      if !key.isEmpty { steps.append(.key(String(key))) }
      var rest = word.dropFirst(key.count)
      guard !key.isEmpty || steps.isEmpty && !rest.isEmpty else { return nil }
      while !rest.isEmpty {
        guard let end = rest.firstIndex(of: "]"), rest.first == "[",
          case let number = rest[rest.index(after: rest.startIndex)..<end],
          number.isASCIIDigits, let index = Int(number)
        else { return nil }
        steps.append(.index(index))
        rest = rest[rest.index(after: end)...]
      }
    }
    self.path = path
    self.steps = steps
  }

  /// Why the response does not confirm the file; nil if it does. A text is compared with the digest, a number with the
  /// size.
  func mismatch(
    in body: [UInt8], size: Int64, digest: SHA256.Digest?
  ) -> String? {
    guard let root = try? JSONValue(parsing: body) else {
      return "the response is not JSON, or too long"
    }
    var value: JSONValue? = root
    for step in steps {
      switch step {
      case .key(let key): value = value?[key]
      case .index(let index):
        let elements = value?.elements ?? []
        value = elements.indices.contains(index) ? elements[index] : nil
      }
    }
    switch value {
    case .integer(let number):
      return number == size ? nil : "the server has \(number) bytes, and the file has \(size)"
    case .string(let text):
      guard let digest else { return "the file has no digest" }
      return text.lowercased() == digest.description
        ? nil : "the server has the digest \(text.quoted), and the file \(digest)"
    default: return "the response has no text or number at \(path.quoted)"
    }
  }
}
