public import FormStreamMultipart
import FormStreamPlatform

/// The trusted authorities, the client certificate, and the versions of TLS.
public struct TLSSettings: Sendable, Hashable {
  /// A version of TLS. Versions before 1.2 are not secure (RFC 8996), and are never used.
  public struct Version: Sendable, Hashable, CustomStringConvertible {
    /// The number after the dot, as in `1.2`.
    let minor: Int

    /// TLS 1.2 (RFC 5246).
    public static let tls12 = Version(minor: 2)
    /// TLS 1.3 (RFC 8446).
    public static let tls13 = Version(minor: 3)

    /// The version's number: `1.2`, `1.3`.
    public var description: String { "1.\(minor)" }
  }

  /// A PEM file with the certificates of the trusted authorities. The system's authorities are trusted only if this property
  /// and ``authoritiesDirectory`` are nil.
  public var authorities: LocalPath?
  /// A directory with the certificates of the trusted authorities, under the names that `openssl rehash` gives them.
  public var authoritiesDirectory: LocalPath?
  /// A PEM file with the client's certificate. It is sent to the origin of a request's own URL, but not to another origin after
  /// a redirect.
  public var certificate: LocalPath?
  /// A PEM file with the key of the client's certificate; if nil, the key is in the certificate's file.
  public var key: LocalPath?
  /// The passphrase of the key. It is never shown in errors, traces or records.
  public var passphrase: String? {
    get { hiddenPassphrase?.value }
    set { hiddenPassphrase = newValue.map { Hidden($0) } }
  }
  private var hiddenPassphrase: Hidden<String>?
  /// The oldest version that is used.
  public var minimumVersion = Version.tls12
  /// The newest version that is used; no limit if nil.
  public var maximumVersion: Version?
  /// The public key that the server must have, in addition to a trusted certificate; nil allows any key.
  public var pin: PublicKeyPin?
  /// Whether the server's certificate is verified. If false, anybody on the network path can read and change everything.
  public var verifiesServer = true

  /// The system's authorities, and no client certificate.
  public init() {}

  /// Whether the client's certificate was removed, because it is for another origin.
  private(set) var withholdsCertificate = false

  mutating func withholdCertificate() {
    withholdsCertificate = certificate != nil
    (certificate, key, hiddenPassphrase) = (nil, nil, nil)
  }

  /// The allowed versions, as text for messages.
  var versions: String {
    guard let maximumVersion else { return "TLS \(minimumVersion) or newer" }
    return maximumVersion == minimumVersion
      ? "TLS \(maximumVersion)" : "TLS \(minimumVersion) to \(maximumVersion)"
  }

  func check() throws(TransferError) {
    if let maximumVersion, maximumVersion.minor < minimumVersion.minor {
      throw .noTLSVersionLeft(self, newest: maximumVersion)
    }
    if let passphrase, passphrase.utf8.contains(0) { throw .nulInPassphrase }
    var pinFile: LocalPath?
    if case .file(let path)? = pin?.kind { pinFile = path }
    let files: [(LocalPath?, SettingName, String)] = [
      (authorities, .authorities, "a PEM file"),
      (authoritiesDirectory, .authoritiesDirectory, "a directory of PEM files"),
      (certificate, .clientCertificate, "a PEM file"), (key, .key, "a PEM file"),
      (pinFile, .pin, "a PEM or DER file"),
    ]
    for (path, setting, content) in files {
      guard let path, let reason = unreadable(path) else { continue }
      throw .fileUnreadable(path, of: setting, content, reason)
    }
    // libcurl would report a file without a key as a key that differs from the server's.
    if let pinFile, !hasPublicKey(pinFile) { throw .noPublicKey(in: pinFile) }
  }
}
