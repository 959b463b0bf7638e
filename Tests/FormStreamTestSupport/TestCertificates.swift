/// Certificates for a test, made by the command `openssl`: an authority and certificates that it signed. Their
/// directory is removed with this object.
public final class TestCertificates: Sendable {
  /// The paths of a certificate and its key, both PEM files.
  public struct Pair: Sendable {
    /// The certificate's file.
    public let certificate: String
    /// The key's file.
    public let key: String
  }

  /// A failure of `openssl`.
  public struct Failed: Error, CustomStringConvertible {
    /// The arguments and the output of `openssl`.
    public let description: String
  }

  /// The authority's certificate, a path.
  public let authority: String
  /// The certificate of another authority, which signed none of these, a path.
  public let otherAuthority: String
  /// For `localhost`, 127.0.0.1, 127.0.0.2 and ::1.
  public let server: Pair
  /// For the same names, expired some years ago.
  public let expired: Pair
  /// For `elsewhere.example` only.
  public let wrongHost: Pair
  /// For the same names as `server`, valid from a time in the future.
  public let future: Pair
  /// For the same names as `server`, signed by itself.
  public let selfSigned: Pair
  /// For a client.
  public let client: Pair
  /// For a client, signed by itself.
  public let otherClient: Pair
  /// The key of `client`, encrypted with the passphrase `canary`, a path.
  public let encryptedClientKey: String

  private let place: TemporaryDirectory

  /// Makes all certificates, which takes some tenths of a second.
  public init() throws {
    let place = try TemporaryDirectory()
    self.place = place
    try place.write("index", "")
    try place.write("index.attr", "unique_subject = no\n")
    try place.write("serial", "01\n")
    try place.write(
      "ca.conf",
      """
      [ca]
      default_ca = here
      [here]
      database = index
      serial = serial
      new_certs_dir = .
      default_md = sha256
      policy = any
      [any]
      commonName = supplied
      [req]
      distinguished_name = name
      [name]
      [authority]
      basicConstraints = critical, CA:TRUE
      keyUsage = critical, keyCertSign, cRLSign
      subjectKeyIdentifier = hash
      """)
    for name in ["authority", "other"] {
      try openssl(
        place,
        "req -x509 -config ca.conf -extensions authority -subj /CN=\(name) -days 3650 "
          + "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout \(name).key -out \(name).pem"
      )
    }
    let names = "subjectAltName = DNS:localhost, IP:127.0.0.1, IP:127.0.0.2, IP:::1"
    authority = place.path("authority.pem")
    otherAuthority = place.path("other.pem")
    server = try sign("server", names, until: "20490101000000Z", in: place)
    expired = try sign("expired", names, until: "20200101000000Z", in: place)
    wrongHost = try sign(
      "wrong", "subjectAltName = DNS:elsewhere.example", until: "20490101000000Z", in: place)
    future = try sign(
      "future", names, from: "20480101000000Z", until: "20490101000000Z", in: place)
    client = try sign(
      "client", "extendedKeyUsage = clientAuth", until: "20490101000000Z", in: place)
    selfSigned = try signItself("self", names, in: place)
    otherClient = try signItself("otherclient", "extendedKeyUsage = clientAuth", in: place)
    encryptedClientKey = place.path("encrypted.key")
    try openssl(
      place, "pkcs8 -topk8 -in client.key -passout pass:canary -out encrypted.key")
  }
}

private func signItself(
  _ name: String, _ extensions: String, in place: TemporaryDirectory
) throws -> TestCertificates.Pair {
  try place.write(
    "\(name).conf", "[req]\ndistinguished_name = name\n[name]\n[own]\n\(extensions)\n")
  try openssl(
    place,
    "req -x509 -config \(name).conf -extensions own -subj /CN=\(name) -days 3650 "
      + "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout \(name).key -out \(name).pem")
  return TestCertificates.Pair(
    certificate: place.path("\(name).pem"), key: place.path("\(name).key"))
}

private func sign(
  _ name: String, _ extensions: String, from start: String = "20190101000000Z", until end: String,
  in place: TemporaryDirectory
) throws -> TestCertificates.Pair {
  try place.write("\(name).conf", "basicConstraints = CA:FALSE\n\(extensions)\n")
  try openssl(
    place,
    "req -new -config ca.conf -subj /CN=\(name) -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
      + "-keyout \(name).key -out \(name).csr")
  try openssl(
    place,
    "ca -batch -notext -config ca.conf -cert authority.pem -keyfile authority.key "
      + "-startdate \(start) -enddate \(end) -extfile \(name).conf "
      + "-in \(name).csr -out \(name).pem")
  return TestCertificates.Pair(
    certificate: place.path("\(name).pem"), key: place.path("\(name).key"))
}

private func openssl(_ place: TemporaryDirectory, _ arguments: String) throws {
  let result = try run(
    program: "/usr/bin/env", ["openssl"] + arguments.split(separator: " ").map(String.init),
    in: place)
  guard result.exit == 0 else {
    throw TestCertificates.Failed(description: "openssl \(arguments): \(result.stderr)")
  }
}
