/// What decides over a file's media type.
public struct SniffingPolicy: Hashable, Sendable, CustomStringConvertible {
  private enum Kind: String {
    case content
    case `extension`
    case auto
    case none
  }

  private let kind: Kind

  /// The content alone, as libmagic sees it.
  public static let content = SniffingPolicy(kind: .content)
  /// The file name's extension alone; nothing is read.
  public static let `extension` = SniffingPolicy(kind: .extension)
  /// The content; where that is told in general terms only (text, an archive, bytes), an extension that
  /// does not contradict it says the rest.
  public static let auto = SniffingPolicy(kind: .auto)
  /// Nothing: a type is told only where an override names it.
  public static let none = SniffingPolicy(kind: .none)

  /// Every policy, the default first.
  public static let all: [SniffingPolicy] = [auto, content, `extension`, none]

  /// The policy's name, such as `auto`.
  public var description: String { kind.rawValue }
}
