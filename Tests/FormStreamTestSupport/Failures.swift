public import FormStreamMultipart

/// The `MultipartError` that `body` throws, or nil if it throws nothing or another error.
public func failure<Result>(of body: () throws -> Result) -> MultipartError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error as? MultipartError
  }
}

/// An error that tests throw to see whether it is passed on.
public struct TestError: Error, Equatable {
  /// Identifies the error.
  public let number: Int

  /// Creates an error.
  public init(_ number: Int) { self.number = number }
}
