/// A frame of HTTP/2 (RFC 9113 §4.1).
struct HTTP2Frame {
  /// The kinds of frames that a `ScriptedHTTP2Server` sends or handles (RFC 9113 §6).
  enum Kind: UInt8 {
    case data = 0, headers = 1, resetStream = 3, settings = 4, ping = 6, goAway = 7
    case windowUpdate = 8, continuation = 9
  }

  static let endStream: UInt8 = 0x1
  /// The same bit as `endStream`, in SETTINGS and PING.
  static let acknowledgement: UInt8 = 0x1
  static let endHeaders: UInt8 = 0x4
  static let padded: UInt8 = 0x8

  /// What a client sends before its first frame (RFC 9113 §3.4).
  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  /// The largest payload that needs no agreement (RFC 9113 §4.2).
  static let maximumPayload = 16384

  /// Nil for other kinds.
  var kind: Kind?
  var flags: UInt8
  /// The stream's number; 0 for the connection.
  var stream: Int
  var payload: [UInt8]

  init(_ kind: Kind, flags: UInt8 = 0, stream: Int = 0, _ payload: [UInt8] = []) {
    (self.kind, self.flags, self.stream, self.payload) = (kind, flags, stream, payload)
  }

  /// Takes a complete frame from the start of `bytes`; nil if there is none yet.
  init?(takenFrom bytes: inout [UInt8]) {
    guard bytes.count >= 9 else { return nil }
    let size = Self.number(bytes[0..<3])
    guard bytes.count >= 9 + size else { return nil }
    kind = Kind(rawValue: bytes[3])
    flags = bytes[4]
    stream = Self.number(bytes[5..<9]) & 0x7FFF_FFFF
    payload = Array(bytes[9..<9 + size])
    bytes.removeFirst(9 + size)
  }

  var endsStream: Bool { flags & Self.endStream != 0 }
  var endsHeaders: Bool { flags & Self.endHeaders != 0 }
  var isAcknowledgement: Bool { flags & Self.acknowledgement != 0 }

  /// The payload of DATA without its padding; nil if the padding is longer than the payload.
  var data: ArraySlice<UInt8>? {
    guard flags & Self.padded != 0 else { return payload[...] }
    guard let padding = payload.first, Int(padding) < payload.count else { return nil }
    return payload.dropFirst().dropLast(Int(padding))
  }

  var bytes: [UInt8] {
    Array(Self.bytes(payload.count).dropFirst()) + [kind?.rawValue ?? .max, flags]
      + Self.bytes(stream) + payload
  }

  // MARK: Numbers

  static func number(_ bytes: some Sequence<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }

  /// The four bytes of a number.
  static func bytes(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}

extension HTTP2Frame {
  /// A header block in HPACK: each header is a literal without Huffman coding that no table remembers (RFC 7541
  /// §6.2.2).
  static func headerBlock(_ status: Int, _ headers: [(String, String)]) -> [UInt8] {
    let fields = [(":status", "\(status)")] + headers.map { ($0.lowercased(), $1) }
    return fields.flatMap { [0] + text($0) + text($1) }
  }

  private static func text(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
    // RFC 7541 §5.1: seven bits at a time after the first 127, the lowest first.
    var (length, rest) = ([UInt8(127)], bytes.count - 127)
    while rest >= 128 {
      length.append(UInt8(rest & 127 | 128))
      rest >>= 7
    }
    return length + [UInt8(rest)] + bytes
  }
}
