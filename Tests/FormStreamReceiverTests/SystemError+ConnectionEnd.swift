import FormStreamPlatform
import Glibc

extension SystemError {
  /// The other side has closed or reset the connection.
  var isConnectionEnd: Bool { [EPIPE, ECONNRESET].contains(number) }
}
