/// What the system says of a TCP connection. It counts what the other side's *system* has acknowledged; the program there may not have
/// read it yet.
package struct Traffic: Hashable, Sendable {
  /// The bytes that the other side has acknowledged since the connection began. The connection's beginning and end each count as one
  /// byte, so only the difference between two of these numbers is exact.
  package let acknowledgedBytes: Int64
  /// The bytes that have been received since the connection began, read or not.
  package let receivedBytes: Int64
}
