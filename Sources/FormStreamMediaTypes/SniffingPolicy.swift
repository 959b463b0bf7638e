/// What decides the media type of a file.
public struct SniffingPolicy: Hashable, Sendable, CustomStringConvertible {
  private enum Kind: String {
    case content
    case `extension`
    case auto
    case none
  }

  private let kind: Kind

  /// The contents alone decide. libmagic detects their type.
  public static let content = SniffingPolicy(kind: .content)
  /// The file name extension alone decides. Nothing is read.
  public static let `extension` = SniffingPolicy(kind: .extension)
  /// The contents decide. But if the type of the contents is general (text, an archive, bytes), an
  /// extension that does not contradict the contents decides.
  public static let auto = SniffingPolicy(kind: .auto)
  /// Nothing is detected: only overrides give types.
  public static let none = SniffingPolicy(kind: .none)

  /// Every policy, the default first.
  public static let all: [SniffingPolicy] = [auto, content, `extension`, none]

  /// The name of the policy, such as `auto`.
  public var description: String { kind.rawValue }
}
