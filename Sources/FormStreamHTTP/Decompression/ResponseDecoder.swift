import FormStreamMultipart
import FormStreamPlatform

/// Decodes the body of one response, which may have been coded several times. It is used by one thread at a time.
///
/// RFC 9110 §8.4: "If one or more encodings have been applied to a representation, the sender that applied the encodings MUST
/// generate a Content-Encoding header field that lists the content codings in the order in which they were applied."
final class ResponseDecoder: @unchecked Sendable {
  /// The most codings that a response may have: each coding can make the body a hundred times as long.
  private static let maximumCount = 5

  /// Why a body can't be decoded. It is not a failure of the response's target.
  struct Failure: Error {
    let error: TransferError
  }

  /// The decoders. The first one decodes the last coding: it gets the bytes of the response.
  private let decoders: [CodingDecoder]
  /// The bytes that each decoder but the first got from the decoder before it, and has not decoded yet.
  private var waiting: [UnsafeRawBufferPointer]

  /// Whether a body without any bytes is accepted.
  private let mayBeEmpty: Bool

  /// Returns nil if the body is not coded.
  ///
  /// - Parameter mayBeEmpty: whether a body without any bytes is accepted, although no coding has such data. Some servers name the
  ///   coding even if they have nothing to say about a request that they have carried out. But a resource would be lost without a word:
  ///   a program that fails after its head, behind a server that ends the body for it, sends just that.
  init?(
    _ decompression: ResponseCompression?, _ headers: HTTPHeaders, mayBeEmpty: Bool, from url: HTTPURL
  ) throws(Failure) {
    guard let decompression else { return nil }
    // Some servers write "none" for "identity", and curl accepts it.
    let names = headers.fields.filter { $0.name.isSameHeaderName(as: "Content-Encoding") }
      .flatMap { $0.value.split { $0 == "," || $0 == " " || $0 == "\t" } }
      .map { $0.lowercased() }.filter { $0 != "identity" && $0 != "none" }
    guard !names.isEmpty else { return nil }
    let codings = names.compactMap(Self.coding)
    guard codings.count == names.count, codings.count <= Self.maximumCount else {
      throw Failure(error: .coded(as: names, url))
    }
    self.mayBeEmpty = mayBeEmpty
    let limit = decompression.limit
    decoders = codings.reversed().map { CodingDecoder($0, limit: limit, from: url) }
    waiting = decoders.map { _ in UnsafeRawBufferPointer(start: nil, count: 0) }
  }

  private static func coding(_ name: String) -> CodingDecoder.Coding? {
    switch name {
    case "gzip", "x-gzip": .gzip
    case "deflate": .deflate
    default: nil
    }
  }

  /// Decodes the next piece.
  ///
  /// - Parameter coded: the coded bytes; the bytes that were decoded are removed.
  /// - Returns: the piece, which is valid until the next call; nil if all was decoded.
  func next(
    _ coded: inout UnsafeRawBufferPointer
  ) throws(Failure) -> UnsafeRawBufferPointer? {
    try next(of: decoders.count - 1, &coded)
  }

  /// The next piece of a decoder.
  private func next(
    of index: Int, _ coded: inout UnsafeRawBufferPointer
  ) throws(Failure) -> UnsafeRawBufferPointer? {
    guard index > 0 else { return try decoders[0].next(&coded) }
    while true {
      if let piece = try decoders[index].next(&waiting[index]) { return piece }
      // All waiting bytes are decoded. They were in the buffer of the previous decoder, which may now fill the buffer again.
      guard let piece = try next(of: index - 1, &coded) else { return nil }
      waiting[index] = piece
    }
  }

  /// Checks that nothing is missing at the end.
  func checkEnd() throws(Failure) {
    for decoder in decoders { try decoder.checkEnd(mayBeEmpty: mayBeEmpty) }
  }
}
