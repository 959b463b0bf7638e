/// A setting that a message names. The library uses the name of the setting's property. A program that has another name
/// for the setting, such as a flag, renders the message with the program's name.
package protocol MessageSetting: CustomStringConvertible, Hashable, Sendable {}

/// The sentences of an error. Settings in the sentences are kept as values, so that no code has to search a finished
/// text for their names.
///
/// A message is written as a text: `"… took too long: raise the limit (\(SettingName.attemptLimit))."`
package struct Message: Sendable, CustomStringConvertible, ExpressibleByStringInterpolation {
  fileprivate enum Piece: Sendable {
    case text(String)
    case setting(any MessageSetting)
  }

  private var pieces: [Piece]

  package init(stringLiteral value: String) { pieces = [.text(value)] }

  package init(_ text: String) { pieces = [.text(text)] }

  package init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

  /// The message with the library's names of settings.
  package var description: String { text { $0.description } }

  /// The message with other names of settings.
  package func text(naming name: (any MessageSetting) -> String) -> String {
    pieces.reduce(into: "") { text, piece in
      switch piece {
      case .text(let part): text += part
      case .setting(let setting): text += name(setting)
      }
    }
  }

  /// Whether the message names a setting.
  package func names(_ setting: some MessageSetting) -> Bool {
    pieces.contains {
      if case .setting(let named) = $0 { AnyHashable(named) == AnyHashable(setting) } else { false }
    }
  }

  package static func + (one: Message, other: Message) -> Message {
    var sum = one
    sum.pieces += other.pieces
    return sum
  }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var pieces: [Piece] = []

    package init(literalCapacity: Int, interpolationCount: Int) {
      pieces.reserveCapacity(2 * interpolationCount + 1)
    }

    package mutating func appendLiteral(_ literal: String) {
      if !literal.isEmpty { pieces.append(.text(literal)) }
    }

    /// Adds a setting, another message, or any value as its description. One function adds all kinds of values: with a
    /// function for each kind, the compiler needs seconds for a long sentence.
    package mutating func appendInterpolation<Value>(_ value: Value) {
      switch value {
      case let setting as any MessageSetting: pieces.append(.setting(setting))
      case let message as Message: pieces += message.pieces
      default: pieces.append(.text("\(value)"))
      }
    }
  }
}

// Two messages are equal if their texts are equal.
extension Message: Hashable {
  package static func == (one: Message, other: Message) -> Bool {
    one.description == other.description
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension DefaultStringInterpolation {
  @available(*, deprecated, message: "A text loses the setting: write a Message.")
  package mutating func appendInterpolation(_ setting: some MessageSetting) {
    appendLiteral(setting.description)
  }
}
