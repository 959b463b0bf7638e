package import FormStreamMultipart

extension HTTPHeaders {
  /// The beginning of a body with these headers, decoded as `Content-Encoding` says. A body that can't be decoded stays as it is,
  /// such as one that is decoded already.
  ///
  /// - Parameter body: the body, or its beginning.
  package func decodedBeginning(of body: [UInt8]) -> [UInt8] {
    // Nobody sees the errors, which name a URL.
    guard let nowhere = try? HTTPURL("http://body.invalid/") else { return body }
    // A piece of the decoder is enough: it is longer than what anybody reads.
    let compression = ResponseCompression(limit: .max)
    guard let decoder = try? ResponseDecoder(compression, self, mayBeEmpty: true, from: nowhere) else { return body }
    return body.withUnsafeBytes { bytes in
      var coded = bytes
      // Nothing is decoded of a body that is cut off too early.
      guard let piece = try? decoder.next(&coded) else { return body }
      return Array(piece)
    }
  }
}
