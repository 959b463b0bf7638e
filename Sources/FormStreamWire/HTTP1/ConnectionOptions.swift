import FormStreamMultipart
import FormStreamPlatform

/// What the headers of a message say about the connection after it.
struct ConnectionOptions: Sendable {
  /// RFC 9112 §9.6: "The "close" connection option is defined as a signal that the sender will close this connection after
  /// completion of the response."
  private(set) var closes = false
  /// Whether an HTTP/1.0 connection stays open (RFC 9112 §9.3).
  private(set) var keepsAlive = false
  /// How many seconds a connection without requests stays open; nil if the message doesn't say it. Of several numbers, it is the
  /// smallest one, and no more than a day: a server's number must not overflow a clock.
  private(set) var idleSeconds: Int64?

  private static let day: Int64 = 86_400
  /// The length of both names: `Connection` and `Keep-Alive`.
  private static let nameLength = 10

  init() {}

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

  private mutating func note(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    if name.equalsIgnoringCase("connection") {
      noteConnection(value)
    } else if name.equalsIgnoringCase("keep-alive") {
      Self.forEachOption(of: value) { noteIdleTime($0) }
    }
  }

  /// Notes the value of a `Connection`.
  mutating func noteConnection(_ value: UnsafeRawBufferPointer) {
    Self.forEachOption(of: value) { option in
      closes = closes || option.equalsIgnoringCase("close")
      keepsAlive = keepsAlive || option.equalsIgnoringCase("keep-alive")
    }
  }

  /// Notes the number of `timeout=N`.
  private mutating func noteIdleTime(_ option: UnsafeRawBufferPointer) {
    let name = "timeout=".utf8.count
    guard option.count > name,
      UnsafeRawBufferPointer(rebasing: option[..<name]).equalsIgnoringCase("timeout="),
      let seconds = Int64(decimalDigits: option[name...])
    else { return }
    idleSeconds = min(seconds, idleSeconds ?? Self.day, Self.day)
  }

  private static func forEachOption(
    of value: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    var rest = value[...]
    while !rest.isEmpty {
      let option = rest.prefix { $0 != UInt8(ascii: ",") }
      body(UnsafeRawBufferPointer(rebasing: option.trimmingBlanks()))
      rest = rest[option.endIndex...].dropFirst()
    }
  }
}
