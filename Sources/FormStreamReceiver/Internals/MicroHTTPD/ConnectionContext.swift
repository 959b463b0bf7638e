import CFormStreamMicroHTTPD

/// A connection and its current request, stored as libmicrohttpd's socket context.
///
/// libmicrohttpd always reports the end of a connection. But it does not report the end of a request if it has no memory to
/// refuse the request.
final class ConnectionContext {
  let connection: Connection
  var request: IncomingRequest?
  /// The connection's thread; nil before its first request.
  var thread: UInt?

  init(_ connection: Connection) {
    self.connection = connection
  }

  /// The context of a connection of libmicrohttpd; nil before its start and after its end.
  static func of(_ handle: OpaquePointer) -> ConnectionContext? {
    formstream_socket_context(handle).map {
      Unmanaged<ConnectionContext>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Makes the pointer for the socket context, which owns this object until ``release(_:)``.
  func retain() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

  static func release(_ pointer: UnsafeMutableRawPointer) -> ConnectionContext {
    Unmanaged<ConnectionContext>.fromOpaque(pointer).takeRetainedValue()
  }

  func endRequest(isSent: Bool) {
    request?.finish(isSent: isSent)
    request = nil
  }
}
