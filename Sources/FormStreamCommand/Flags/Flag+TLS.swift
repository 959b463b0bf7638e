import FormStreamMultipart
import FormStreamHTTP

/// The flags about encryption and certificates.
extension Flag {
  static let tlsFlags = [
    Flag(
      long: "cacert", value: Value(placeholder: "FILE", completion: .path), group: .connection,
      verbs: Verb.requesting,
      summary: "Trust only the certificate authorities in FILE (PEM)"
    ) { (arguments, argument) in arguments.request.session.tls.authorities = argument.path },
    Flag(
      long: "capath", value: Value(placeholder: "DIR", completion: .directory), group: .connection,
      verbs: Verb.requesting,
      summary: "Trust only the certificate authorities in DIR",
      detail:
        "The files in DIR must have the names that openssl rehash gives them. With --cacert, the authorities of both are trusted."
    ) { (arguments, argument) in
      arguments.request.session.tls.authoritiesDirectory = argument.path
    },
    Flag(
      long: "cert", short: "E",
      value: Value(
        placeholder: "FILE", completion: .path, names: { [$0.splitAtPassphrase().file] }),
      group: .connection, verbs: Verb.requesting,
      summary: "Use the client certificate in FILE (PEM)",
      detail: """
        As in curl, what follows a colon is the passphrase of the key, as with --pass; a colon of the file's name is \
        written \\:.
        """
    ) { (arguments, argument) throws(Failure) in
      let (file, phrase) = argument.splitAtPassphrase()
      arguments.request.session.tls.certificate = file.path
      if let phrase { try arguments.request.set(.phrase(phrase)) }
    },
    Flag(
      long: "key", value: Value(placeholder: "FILE", completion: .path), group: .connection,
      verbs: Verb.requesting,
      summary: "The key of --cert (PEM), if it is not in the same file"
    ) { (arguments, argument) in arguments.request.session.tls.key = argument.path },
    Flag(
      long: "pass", value: Value(placeholder: "PHRASE"), group: .connection,
      verbs: Verb.requesting,
      summary: "The passphrase of the key; --pass-file is safer"
    ) { (arguments, argument) throws(Failure) in try arguments.request.set(.phrase(argument)) },
    Flag(
      long: "pass-file", value: Value(placeholder: "FILE", completion: .path), group: .connection,
      verbs: Verb.requesting,
      summary: "A file that holds the passphrase of the key; - is standard input"
    ) { (arguments, argument) throws(Failure) in try arguments.request.set(.file(argument)) },
    Flag(
      long: "pinnedpubkey",
      value: Value(
        placeholder: "KEYS|FILE", completion: .path,
        names: { $0.bytes.starts(with: "sha256//".utf8) ? [] : [$0] }),
      group: .connection, verbs: Verb.requesting,
      summary: "Accept only this public key: sha256//BASE64, or a file",
      detail: """
        Several digests are separated by semicolons. The file holds the key as PEM or DER. The certificate is still \
        checked, unless --insecure is given.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.request.pinnedKeys = argument
      guard argument.bytes.starts(with: "sha256//".utf8) else {
        arguments.request.session.tls.pin = .file(argument.path)
        return
      }
      guard let pin = argument.text.flatMap(PublicKeyPin.init) else {
        throw .usage(
          "\(argument.named("--pinnedpubkey")) has no digests of public keys: write sha256// and 44 characters of base 64, "
            + "several of them with ; between them, or the name of a file.")
      }
      arguments.request.session.tls.pin = pin
    },
    Flag(
      long: "tlsv1.2", group: .connection, verbs: Verb.requesting,
      summary: "Use TLS 1.2 or newer (the default)"
    ) { (arguments, _) in arguments.request.demand(.tls12) },
    Flag(
      long: "tlsv1.3", group: .connection, verbs: Verb.requesting,
      summary: "Use TLS 1.3 or newer"
    ) { (arguments, _) in arguments.request.demand(.tls13) },
    Flag(
      long: "tls-max", value: Value(placeholder: "VERSION", completion: .choices(["1.2", "1.3"])),
      group: .connection, verbs: Verb.requesting,
      summary: "Use no newer version of TLS than 1.2 or 1.3"
    ) { (arguments, argument) throws(Failure) in
      let versions: [TLSSettings.Version] = [.tls12, .tls13]
      arguments.request.session.tls.maximumVersion = try argument.choice(
        for: "--tls-max", "version that is supported", among: versions)
    },
    Flag(
      long: "insecure", short: "k", group: .connection, verbs: Verb.requesting,
      summary: "Don't check the identity of the server",
      detail: """
        Anyone on the network path can then read and change everything, secrets included. A note says \
        so each time. Nearly always, --cacert is the right flag instead.
        """
    ) { (arguments, _) in arguments.request.session.tls.verifiesServer = false },
  ]
}

/// The passphrase of the client's key, as it was typed.
enum PassphraseArgument {
  case phrase(Argument)
  case file(Argument)
}

extension Argument {
  /// Splits the value of `--cert` into the file's name and the passphrase. The passphrase is the text after the first
  /// colon that has no backslash before it; nil if there is no such text. As in curl, a colon or backslash in the
  /// file's name has a backslash before it.
  fileprivate func splitAtPassphrase() -> (file: Argument, phrase: Argument?) {
    let (colon, backslash) = (UInt8(ascii: ":"), UInt8(ascii: "\\"))
    var file: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      if byte == colon {
        return (
          Argument(bytes: file, from: self), rest.isEmpty ? nil : Argument(bytes: rest, from: self)
        )
      }
      let isEscape = byte == backslash && (rest.first == colon || rest.first == backslash)
      file.append(isEscape ? rest.removeFirst() : byte)
    }
    return (Argument(bytes: file, from: self), nil)
  }
}
