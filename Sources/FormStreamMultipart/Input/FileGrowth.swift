/// Whether a file may grow while it is sent, as a log does. The bytes that it had when the form was laid out are sent.
public struct FileGrowth: Hashable, Sendable {
  enum Kind { case refused, allowed, compared }
  let kind: Kind

  /// The file may not grow: growth is a change, and reading fails with `sourceChanged`.
  public static let refused = FileGrowth(kind: .refused)
  /// The file may grow. It is checked when it is opened and after each read, in every attempt. Reading fails with
  /// `sourceChanged` if the file is shorter than before, replaced, or rewritten with the same size. But if the file is
  /// longer, some changes between two checks can't be distinguished from growth: writing in the middle, or truncating
  /// the file and filling it again. Choose ``compared`` to detect these changes. A file that is searched for the
  /// boundary is always compared.
  public static let allowed = FileGrowth(kind: .allowed)
  /// The file may grow. Its bytes are read when the form is laid out, and again when they are sent. If the bytes
  /// differ, reading fails before the last byte is sent, whatever changed the bytes and when.
  public static let compared = FileGrowth(kind: .compared)
}

extension FileGrowth: ExpressibleByBooleanLiteral {
  /// ``allowed`` or ``refused``.
  public init(booleanLiteral growing: Bool) {
    self = growing ? .allowed : .refused
  }
}
