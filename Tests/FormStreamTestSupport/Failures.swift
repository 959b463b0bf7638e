public import FormStreamMultipart

/// What `body` throws, where that is a `MultipartError`; nil where it throws nothing, or something else.
public func failure<Result>(of body: () throws -> Result) -> MultipartError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error as? MultipartError
  }
}

/// An error that tests throw, to see whether it arrives.
public struct TestError: Error, Equatable {
  /// Tells one from the other.
  public let number: Int

  /// Makes one.
  public init(_ number: Int) { self.number = number }
}
