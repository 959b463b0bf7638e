import FormStreamDigest
import FormStreamPlatform
import FormStreamJSON

/// Compares a value in a JSON response with the file's digest or size. A response that says otherwise means that the file was
/// not accepted.
public struct ResponseCheck: Sendable {
  let path: ResponsePath

  /// Compares the value at a path.
  public init(of path: ResponsePath) { self.path = path }

  /// Why the response does not confirm the file; nil if it does. If the value at the path is text, it is compared with the
  /// digest. If it is a number, it is compared with the size.
  ///
  /// - Parameter place: the file's place in the request.
  func mismatch(
    in response: JSONResponse, at place: Int, size: Int64, digest: SHA256Digest?
  ) -> String? {
    guard let json = response.value else { return JSONResponse.noValue }
    switch path.value(in: json, at: place) {
    case .integer(let number):
      return number == size
        ? nil : "the server has \(counted(number, "byte", "bytes")), and the file has \(size)"
    case .string(let text):
      guard let digest else { return "the file has no digest" }
      return text.lowercased() == digest.description
        ? nil : "the server has the digest \(text.quoted), and the file \(digest)"
    default:
      return "the response has no text or number at \(path.named(at: place))"
    }
  }
}
