/// An address for a host and port, which is used in place of the one that is looked up.
public struct HostAddress: Sendable, Hashable {
  /// `HOST:PORT:ADDRESS`.
  package let text: String

  /// Parses `HOST:PORT:ADDRESS`, such as `example.org:443:127.0.0.1`; nil if the text has another form.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, !parts[2].isEmpty, let port = Int(parts[1]),
      (1...65535).contains(port), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    self.text = text
  }

  /// Whether the entry leads a host to addresses of which one may be of another machine.
  ///
  /// - Parameter host: the host in lower case. An entry may have `+` before its host, and `*` means any host.
  func diverts(_ host: String) -> Bool {
    let parts = text.lowercased().split(separator: ":", maxSplits: 2)
    let name = parts[0].hasPrefix("+") ? parts[0].dropFirst() : parts[0]
    return [host, "*"].contains(String(name))
      && !parts[2].split(separator: ",").allSatisfy { CookiePlace.isLoopback(CookiePlace.host(named: String($0))) }
  }
}
