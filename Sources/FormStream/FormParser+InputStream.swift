public import Foundation

extension FormParser {
  /// Opens an `InputStream`, parses it to its end, and calls `handle` with each event. Always
  /// closes the stream.
  ///
  /// - Throws: `MultipartError` if the body is malformed, or if the parser was used before (`parserUsed`); what the
  ///   stream and `handle` throw.
  public func parse(_ stream: InputStream, to handle: (Event) throws -> Void) throws {
    try parse(InputStreamSource(stream), to: handle)
  }
}

extension CollectedForm {
  /// Parses a body from an unopened `InputStream`. Always closes the stream.
  ///
  /// - Parameters:
  ///   - stream: the body.
  ///   - parser: a parser that was not used yet.
  ///   - limit: the maximum number of bytes in all parts together.
  /// - Throws: `parserUsed`; `limitExceeded` if the parts have more bytes than the limit; what the parser and the
  ///   stream throw.
  public init(reading stream: InputStream, with parser: FormParser, limit: Int) throws {
    try self.init(reading: InputStreamSource(stream), with: parser, limit: limit)
  }
}
