public import FormStreamMultipart

/// Where a response's body goes.
public struct ResponseTarget: Sendable {
  enum Kind: Sendable {
    case memory(limit: Int)
    case file(LocalPath)
    case stream(@Sendable (UnsafeRawBufferPointer) throws -> Void)
  }

  let kind: Kind

  var isStream: Bool { if case .stream = kind { true } else { false } }
  var isMemory: Bool { if case .memory = kind { true } else { false } }

  /// Keeps up to `limit` bytes in the result. Further bytes are read and dropped, and the result is marked as
  /// truncated.
  public static func memory(limit: Int = 1024 * 1024) -> ResponseTarget {
    ResponseTarget(kind: .memory(limit: limit))
  }

  /// Writes a file, whatever the status. The file has a temporary name until it is complete.
  public static func file(_ path: LocalPath) -> ResponseTarget {
    ResponseTarget(kind: .file(path))
  }

  /// Passes the body to `receive`, piece by piece as it arrives.
  ///
  /// It is called on threads of the session's own, one call after the other, and may take its time: meanwhile a quarter of
  /// a megabyte is received, and no more. It receives only the final response, not that of a redirect or of an attempt that
  /// is repeated. A response that ended early is not requested again.
  ///
  /// The last call returns before the request ends, unless the request is cancelled or exceeds a time limit: then it ends
  /// at once. A call that is being made goes on, on its thread, and is the last.
  public static func stream(
    _ receive: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
  ) -> ResponseTarget {
    ResponseTarget(kind: .stream(receive))
  }
}
