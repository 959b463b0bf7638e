import FormStreamPlatform

/// A host and port to connect to in place of the host and port of a URL, such as `example.org:443:staging.example.org:8443`.
/// The URL stays as it is, and so do the `Host` header and the name that the server's certificate must have.
public struct HostReplacement: Sendable, Hashable {
  package let text: String
  /// The host and the port to replace, and the host and the port to connect to instead; each may be empty.
  private let fields: [String]

  /// Parses `HOST:PORT:OTHERHOST:OTHERPORT`; nil if the text has another form. Each of the four may be empty. An empty HOST or
  /// PORT means any; an empty OTHERHOST or OTHERPORT means the host or the port of the URL. An IPv6 address must be in
  /// brackets.
  public init?(_ text: String) {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    var fields = [""]
    var isInBrackets = false
    for character in text {
      if character == "[" { isInBrackets = true }
      if character == "]" { isInBrackets = false }
      if character == ":", !isInBrackets {
        fields.append("")
      } else {
        fields[fields.count - 1].append(character)
      }
    }
    let isPort = { (port: String) in
      port.isEmpty || port.isASCIIDigits && Int(port).map((1...65535).contains) ?? false
    }
    guard fields.count == 4, !isInBrackets, isPort(fields[1]), isPort(fields[3]) else { return nil }
    self.text = text
    self.fields = fields
  }

  /// The host and port to connect to in place of an origin's; nil if the origin is not meant.
  func place(for origin: HTTPURL.Origin) -> (host: String, port: Int)? {
    let isMeant =
      ["", origin.host].contains(fields[0].lowercased())
      && ["", "\(origin.port)"].contains(fields[1])
    guard isMeant else { return nil }
    return (fields[2].isEmpty ? origin.host : fields[2], Int(fields[3]) ?? origin.port)
  }
}

extension TransferSession.Configuration {
  /// Whether connections for an origin may lead to another machine although the origin's host is this machine.
  func diverts(_ origin: HTTPURL.Origin) -> Bool {
    guard unixSocket == nil else { return false }
    let hosts = ([origin.host] + replacedHosts.compactMap { $0.place(for: origin)?.host }).map(CookiePlace.host)
    return hosts.contains { host in !CookiePlace.isLoopback(host) || addresses.contains { $0.diverts(host) } }
  }
}
