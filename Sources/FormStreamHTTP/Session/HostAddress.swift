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
}
