import FormStreamMultipart
import FormStreamPlatform

/// What the headers of a message say about the connection after it.
struct ConnectionOptions: Sendable {
  /// RFC 9112 §9.6: "The "close" connection option is defined as a signal that the sender will close this connection after
  /// completion of the response."
  private(set) var closes = false
  /// Whether an HTTP/1.0 connection stays open (RFC 9112 §9.3).
  private(set) var keepsAlive = false
  /// How many seconds a connection without requests stays open; nil if the message doesn't say it.
  private(set) var idleSeconds: Int64?

  init(of head: ResponseHead) {
    head.bytes.withUnsafeBytes { bytes in
      for line in head.lines where line.name.count == Self.nameLength {
        let name = UnsafeRawBufferPointer(rebasing: bytes[line.name])
        if line.isFolded {
          line.bytes(in: head.bytes).withUnsafeBytes { note(name, $0) }
        } else {
          note(name, UnsafeRawBufferPointer(rebasing: bytes[line.value]))
        }
      }
    }
  }

  init(of headers: HTTPHeaders) {
    for field in headers.fields where field.name.utf8.count == Self.nameLength {
      Array(field.name.utf8).withUnsafeBytes { name in
        field.bytes.withUnsafeBytes { note(name, $0) }
      }
    }
  }

  /// The length of both names: `Connection` and `Keep-Alive`.
  private static let nameLength = 10

  private mutating func note(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let isConnection = name.equalsIgnoringCase("connection")
    guard isConnection || name.equalsIgnoringCase("keep-alive") else { return }
    for part in value.split(separator: UInt8(ascii: ",")) {
      let option = UnsafeRawBufferPointer(rebasing: part.trimmingBlanks())
      if isConnection {
        closes = closes || option.equalsIgnoringCase("close")
        keepsAlive = keepsAlive || option.equalsIgnoringCase("keep-alive")
      } else if idleSeconds == nil {
        idleSeconds = Self.seconds(option)
      }
    }
  }

  /// The number of `timeout=N`.
  private static func seconds(_ option: UnsafeRawBufferPointer) -> Int64? {
    let name = "timeout=".utf8.count
    guard option.count > name else { return nil }
    let isTimeout = UnsafeRawBufferPointer(rebasing: option[..<name]).equalsIgnoringCase("timeout=")
    return isTimeout ? Int64(decimalDigits: option[name...]) : nil
  }
}
