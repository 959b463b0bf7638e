/// The sockets that one `CurlMulti` has open.
final class OpenSockets {
  private var numbers: Set<CInt> = []
  private let willClose: (CInt) -> Void

  init(_ willClose: @escaping (CInt) -> Void) {
    self.willClose = willClose
  }

  func opened(_ socket: CInt) {
    numbers.insert(socket)
  }

  func close(_ socket: CInt) {
    willClose(socket)
    numbers.remove(socket)
    closeSocket(socket)
  }

  /// Returns the socket bound to a local port; nil if several match, as Unix-domain sockets have no port. To
  /// read another exchange's response would be worse than to read none.
  func socket(atLocalPort port: CInt) -> CInt? {
    let found = numbers.filter { localPort(of: $0) == port }
    return found.count == 1 ? found.first : nil
  }

  /// The object that libcurl passes to a callback as `context`.
  static func at(_ context: UnsafeMutableRawPointer?) -> OpenSockets? {
    context.map { Unmanaged<OpenSockets>.fromOpaque($0).takeUnretainedValue() }
  }
}
