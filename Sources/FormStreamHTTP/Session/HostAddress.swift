import FormStreamNet

/// An address for a host and port, which is used in place of the one that is looked up.
public struct HostAddress: Sendable, Hashable {
  /// `HOST:PORT:ADDRESS`.
  package let text: String
  let override: HostOverride

  /// Parses `HOST:PORT:ADDRESS`, such as `example.org:443:127.0.0.1`; nil if the text has another form. Several addresses are
  /// separated by commas. `*` stands for every host.
  public init?(_ text: String) {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let override = HostOverride(text),
      // libcurl would take an address of IPv6 for something else.
      override.name?.contains(":") != true
    else { return nil }
    (self.text, self.override) = (text, override)
  }

  /// Whether the entry leads a host to addresses of which one may be of another machine.
  ///
  /// - Parameter host: the host in lower case.
  func diverts(_ host: String) -> Bool {
    (override.name ?? host) == host
      && !override.addresses.allSatisfy { CookiePlace.isLoopback($0.host ?? "") }
  }
}
