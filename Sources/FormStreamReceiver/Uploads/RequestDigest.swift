import FormStreamDigest
import FormStreamIntake
import FormStreamPlatform

/// The digest that a client announces for the bytes of one request, and the digest of the bytes that have arrived. An upload may
/// arrive in many requests.
final class RequestDigest {
  private enum Announced {
    /// `Content-Digest` (RFC 9530).
    case content(AnnouncedDigest)
    /// `Upload-Checksum` of tus.
    case checksum([UInt8])
  }

  private let announced: Announced
  /// One of the two sums is computed.
  private var sha256: PartDigest?
  private var sha1: SHA1?

  /// Reads `Content-Digest`; nil if there is none with a SHA-256.
  ///
  /// - Throws: a refusal if the header can't be read.
  init?(contentOf head: RequestHead) throws {
    guard let digest = try AnnouncedDigest(head, headers: [AnnouncedDigest.contentHeader]) else {
      return nil
    }
    announced = .content(digest)
    sha256 = try PartDigest()
  }

  /// Reads `Upload-Checksum`: "The Upload-Checksum header MUST consist of the name of the used checksum algorithm and the Base64
  /// encoded checksum separated by a space." Nil if there is none.
  ///
  /// - Throws: a refusal if the header can't be read, or names another algorithm: "The Server MAY respond with … 400 Bad Request
  ///   if the checksum algorithm is not supported by the server".
  init?(tus head: RequestHead) throws {
    let lines = head.values(of: TusProtocol.checksumHeader)
    guard !lines.isEmpty else { return nil }
    let words = lines.count == 1 ? lines[0].utf8.split(separator: UInt8(ascii: " ")) : []
    guard words.count == 2, let sum = base64Decoded(Substring(words[1])) else {
      throw UploadRefusal.unusableChecksum
    }
    switch String(Substring(words[0])) {
    case TusProtocol.sha1 where sum.count == SHA1.byteCount: sha1 = try SHA1()
    case TusProtocol.sha256 where sum.count == SHA256Digest.byteCount: sha256 = try PartDigest()
    default: throw UploadRefusal.unusableChecksum
    }
    announced = .checksum(sum)
  }

  /// Adds the next bytes of the request.
  func update(_ bytes: UnsafeRawBufferPointer) throws {
    try sha256?.update(bytes)
    try sha1?.update(bytes)
  }

  /// Throws a refusal if the bytes don't have the announced digest. This method must be called only once.
  func check() throws {
    let sum = try sha256?.finalize()
    switch announced {
    case .content(let digest):
      guard let sum else { throw UploadRefusal.checksumMismatch }
      try digest.check(sum)
    case .checksum(let announced):
      guard try sum?.bytes ?? sha1.take()?.finalize() == announced else {
        throw UploadRefusal.checksumMismatch
      }
    }
  }
}
