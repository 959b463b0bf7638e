import FormStreamDigest
import FormStreamPlatform
import FormStreamJSON
import FormStreamHTTP

/// Compares a value in a JSON response with the file's digest or size. A response that says otherwise means that the file was
/// not accepted.
public struct ResponseCheck: Sendable {
  /// What the server states about the files of a request.
  struct Statement {
    /// The response as JSON; nil if it is not JSON, or too long.
    fileprivate let value: JSONValue?

    init(_ response: TransferResponse) {
      value = response.isTruncated ? nil : try? JSONValue(parsing: Array(response.body))
    }
  }

  private enum Step: Sendable {
    case key(String)
    case index(Int)
  }

  private let path: String
  /// The steps of the path for the first file of a request.
  private let steps: [Step]
  /// Whether the path contains the file's place, `{i}`.
  package let namesPlace: Bool

  /// The text in the path that stands for the file's place in the request, from 0.
  private static let place = "{i}"

  /// How many bytes of a response are kept for the check.
  static func maximumResponse(files: Int) -> Int { 1024 * (1024 + files) }

  /// Parses a path such as `a.b[0].sha256` or `files[{i}].sha256`; nil if the text is not such a path.
  public init?(_ path: String) {
    guard let steps = Self.steps(path, at: 0) else { return nil }
    self.path = path
    self.steps = steps
    namesPlace = path.contains(Self.place)
  }

  private static func steps(_ path: String, at place: Int) -> [Step]? {
    var steps: [Step] = []
    let path = path.replacing(Self.place, with: "\(place)")
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
    return steps
  }

  /// Why the response does not confirm the file; nil if it does. If the value at the path is text, it is compared with the
  /// digest. If it is a number, it is compared with the size.
  ///
  /// - Parameter place: the file's place in the request.
  func mismatch(
    in statement: Statement, at place: Int, size: Int64, digest: SHA256Digest?
  ) -> String? {
    guard var value = statement.value else { return "the response is not JSON, or too long" }
    let steps = namesPlace ? Self.steps(path, at: place) ?? steps : steps
    for step in steps {
      switch step {
      case .key(let key): value = value[key] ?? .null
      case .index(let index):
        let elements = value.elements ?? []
        value = elements.indices.contains(index) ? elements[index] : .null
      }
    }
    switch value {
    case .integer(let number):
      return number == size
        ? nil : "the server has \(counted(number, "byte", "bytes")), and the file has \(size)"
    case .string(let text):
      guard let digest else { return "the file has no digest" }
      return text.lowercased() == digest.description
        ? nil : "the server has the digest \(text.quoted), and the file \(digest)"
    default:
      let path = path.replacing(Self.place, with: "\(place)")
      return "the response has no text or number at \(path.quoted)"
    }
  }
}
