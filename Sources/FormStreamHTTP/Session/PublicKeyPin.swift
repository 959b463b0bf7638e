public import FormStreamMultipart
import FormStreamPlatform

/// The public key that a server must have, whoever has signed its certificate.
public struct PublicKeyPin: Sendable, Hashable {
  enum Kind: Hashable {
    /// Digests in libcurl's format: `sha256//BASE64`, separated by semicolons.
    case digests(String)
    case file(LocalPath)
  }

  let kind: Kind

  /// Parses digests of public keys as curl writes them: `sha256//` and the SHA-256 digest of a key (DER, SubjectPublicKeyInfo)
  /// in base 64. Several digests are separated by semicolons, and the server's key must match one of them. Nil if the text has
  /// another form.
  public init?(_ text: String) {
    let prefix = "sha256//"
    let digests = text.split(separator: ";", omittingEmptySubsequences: false)
    // 32 bytes in base 64: 43 digits and one "=".
    let areValid = digests.allSatisfy {
      let digest = $0.dropFirst(prefix.count).utf8
      return $0.hasPrefix(prefix) && digest.count == 44 && digest.last == UInt8(ascii: "=")
        && digest.dropLast().allSatisfy { $0.isASCIILetterOrDigit || "+/".utf8.contains($0) }
    }
    guard areValid else { return nil }
    kind = .digests(text)
  }

  private init(_ kind: Kind) {
    self.kind = kind
  }

  /// The key in a file: PEM or DER.
  public static func file(_ path: LocalPath) -> PublicKeyPin { PublicKeyPin(.file(path)) }

  /// The key in a file: PEM or DER.
  public static func file(_ path: String) -> PublicKeyPin { .file(LocalPath(path)) }
}
