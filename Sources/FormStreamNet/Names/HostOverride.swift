import FormStreamPlatform

/// Addresses for a host and port, which are used in place of those that the name service knows (`--resolve`).
package struct HostOverride: Hashable, Sendable {
  /// The name in lower case; nil stands for every host.
  package let name: String?
  let port: UInt16
  package let addresses: [SocketAddress]

  /// Parses `HOST:PORT:ADDRESS[,ADDRESS]…`, such as `example.org:443:127.0.0.1,[::1]`; nil if the text has another form. `*` stands for
  /// every host. IPv6 addresses may be in brackets; an IPv6 host must be. curl's `+` before the host changes nothing here.
  package init?(_ text: String) {
    var rest = text.hasPrefix("+") ? text.dropFirst() : text[...]
    let name: Substring
    if rest.first == "[" {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      name = rest[rest.index(after: rest.startIndex)..<end]
      rest = rest[rest.index(after: end)...]
    } else {
      guard let end = rest.firstIndex(of: ":") else { return nil }
      name = rest[..<end]
      rest = rest[end...]
    }
    let fields = rest.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard !name.isEmpty, fields.count == 3, fields[0].isEmpty, fields[1].utf8.allSatisfy(\.isASCIIDigit),
      let port = UInt16(fields[1]), port > 0
    else { return nil }
    var addresses: [SocketAddress] = []
    for part in fields[2].split(separator: ",", omittingEmptySubsequences: false) {
      let isInBrackets = part.hasPrefix("[") && part.hasSuffix("]")
      guard let address = SocketAddress(String(isInBrackets ? part.dropFirst().dropLast() : part), port: port)
      else { return nil }
      addresses.append(address)
    }
    self.name = name == "*" ? nil : Resolver.key(String(name))
    (self.port, self.addresses) = (port, addresses)
  }
}
