public import Foundation

extension FormParser {
  /// Opens an `InputStream`, reads it to its end, and hands each event over as it comes. The stream is
  /// closed, whatever happens.
  ///
  /// - Throws: `MultipartError` where the body is not a form; what the stream or `handle` throws.
  public func parse(_ stream: InputStream, to handle: (Event) throws -> Void) throws {
    try parse(InputStreamSource(stream), to: handle)
  }
}

extension CollectedForm {
  /// Reads a body from an unopened `InputStream`; it is closed, whatever happens.
  ///
  /// - Parameters:
  ///   - stream: gives the body.
  ///   - parser: a fresh parser; it is used up.
  ///   - limit: the most bytes that all parts together may have.
  /// - Throws: `limitExceeded` past the limit; whatever parsing and reading throw.
  public init(reading stream: InputStream, with parser: FormParser, limit: Int) throws {
    try self.init(reading: InputStreamSource(stream), with: parser, limit: limit)
  }
}
