/// Whether a file may grow while it is sent, as a log does. The bytes that it had when the form was laid out are sent.
public struct FileGrowth: Hashable, Sendable {
  enum Kind { case refused, allowed, compared }
  let kind: Kind

  /// It may not: growing is a change, and reading fails with `sourceChanged`.
  public static let refused = FileGrowth(kind: .refused)
  /// It may grow. That it shrinks, is replaced, or is rewritten without growing is a change. If it is written to in the middle
  /// and grows, too, between two looks at it, that looks like growing: choose ``compared`` if it matters.
  public static let allowed = FileGrowth(kind: .allowed)
  /// It may grow. Its bytes are read when the form is laid out, and again when they are sent: if they are others, reading
  /// fails before the last of them, whatever wrote them and when.
  public static let compared = FileGrowth(kind: .compared)
}

extension FileGrowth: ExpressibleByBooleanLiteral {
  /// ``allowed`` or ``refused``.
  public init(booleanLiteral mayGrow: Bool) {
    self = mayGrow ? .allowed : .refused
  }
}
