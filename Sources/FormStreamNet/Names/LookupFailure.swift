/// Why a host has no address.
package struct LookupFailure: Error, Hashable, Sendable {
  package let name: String
  /// Whether the name may have addresses: the name servers did not respond, or this system failed. Otherwise, the name servers say that
  /// there are none.
  package let isTemporary: Bool
  /// What the system says, such as "Name or service not known".
  package let reason: String

  package init(name: String, isTemporary: Bool, reason: String) {
    (self.name, self.isTemporary, self.reason) = (name, isTemporary, reason)
  }
}
