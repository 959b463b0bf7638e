import FormStreamJSON
import FormStreamPlatform

/// Where a value is in a JSON response: names and indices, such as `a.b[0].id` or `files[{i}].id`.
public struct ResponsePath: Sendable {
  private enum Step: Sendable {
    case key(String)
    case index(Int)
  }

  private let text: String
  /// The steps of the path for the first file of a request.
  private let steps: [Step]
  /// Whether the path contains the file's place, `{i}`.
  package let namesPlace: Bool

  /// The text in the path that stands for the file's place in the request, from 0.
  private static let place = "{i}"

  /// Parses a path; nil if the text is not such a path.
  public init?(_ text: String) {
    guard let steps = Self.steps(text, at: 0) else { return nil }
    self.text = text
    self.steps = steps
    namesPlace = text.contains(Self.place)
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

  /// The value at the path; null if there is none.
  ///
  /// - Parameter place: the file's place in the request.
  func value(in response: JSONValue, at place: Int) -> JSONValue {
    let steps = namesPlace ? Self.steps(text, at: place) ?? steps : steps
    return steps.reduce(response) { value, step in
      switch step {
      case .key(let key): return value[key] ?? .null
      case .index(let index):
        let elements = value.elements ?? []
        return elements.indices.contains(index) ? elements[index] : .null
      }
    }
  }

  /// The path of the file at a place of the request, for messages.
  func named(at place: Int) -> String { text.replacing(Self.place, with: "\(place)").quoted }
}
