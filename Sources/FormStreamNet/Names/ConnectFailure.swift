package import FormStreamPlatform

/// Why no connection was made. It names each address that was tried.
package struct ConnectFailure: Error, Hashable, Sendable {
  /// One address that was tried.
  package struct Address: Hashable, Sendable {
    package let address: SocketAddress
    /// Why it can't be reached; nil if it had not answered yet.
    package let error: SystemError?
  }

  /// The addresses, in the order in which they were tried.
  package let addresses: [Address]
  /// Whether the time limit ended the attempt.
  package let isTimedOut: Bool
}

extension ConnectFailure: CustomStringConvertible {
  /// `127.0.0.1:80: Connection refused; [::1]:80: no response`.
  package var description: String {
    addresses.map { "\($0.address): \($0.error?.description ?? "no response")" }.joined(separator: "; ")
  }
}
