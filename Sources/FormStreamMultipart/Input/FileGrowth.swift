/// Whether a file may grow while it is sent, as a log does. The bytes that it had when the form was laid out are sent.
public struct FileGrowth: Hashable, Sendable {
  enum Kind { case refused, allowed, compared }
  let kind: Kind

  /// It may not: growing is a change, and reading fails with `sourceChanged`.
  public static let refused = FileGrowth(kind: .refused)
  /// It may grow. The file is looked at when it is opened and after each read, also in another attempt: that it is shorter
  /// than before, replaced, or rewritten with the same size is a change. If it is longer, what else happened to it between
  /// the two looks looks like growing, such as writing in the middle, or cutting and filling it again: choose ``compared``
  /// if it matters. A file that is searched for the boundary is compared anyway.
  public static let allowed = FileGrowth(kind: .allowed)
  /// It may grow. Its bytes are read when the form is laid out, and again when they are sent: if they are others, reading
  /// fails before the last of them, whatever wrote them and when.
  public static let compared = FileGrowth(kind: .compared)
}

extension FileGrowth: ExpressibleByBooleanLiteral {
  /// ``allowed`` or ``refused``.
  public init(booleanLiteral growing: Bool) {
    self = growing ? .allowed : .refused
  }
}
