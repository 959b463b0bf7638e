import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform

/// Reads a URL-encoded body. Names are held in memory, up to a limit; values are passed on as they arrive.
///
/// WHATWG URL §5.1: "Let sequences be the result of splitting input on 0x26 (&). … If bytes contains a
/// 0x3D (=), then let name be the bytes from the start of bytes up to but excluding its first 0x3D (=), and
/// let value be the bytes, if any, after … Replace any 0x2B (+) in name and value with 0x20 (SP)."
final class FieldReader {
  private let limits: FormParser.Limits
  private var name: [UInt8] = []
  private var isInValue = false
  /// Whether any byte came after the last `&`.
  private var hasField = false
  /// The start of a percent code that is not complete yet: the percent sign, and at most one digit.
  private var code: [UInt8] = []
  /// How many more bytes the current name or value may get.
  private var room: Int64
  private var fields = 0
  /// The number of bytes in all names so far. The record keeps the names.
  private var nameBytes: Int64 = 0
  private var offset: Int64 = 0

  init(limits: FormParser.Limits) {
    self.limits = limits
    room = min(Int64(limits.headerBlock), limits.allHeaders)
  }

  func read(_ bytes: UnsafeRawBufferPointer, into collector: PartCollector) throws {
    // The previous piece may have ended with up to two bytes that look like the start of a percent code. If they turn out
    // not to be a code, they are added here.
    try withUnsafeTemporaryAllocation(byteCount: bytes.count + 2, alignment: 1) { buffer in
      var rest = bytes
      while !rest.isEmpty {
        let (read, decoded) = decode(rest, into: buffer)
        rest = UnsafeRawBufferPointer(rebasing: rest[read...])
        offset += Int64(read)
        if read > 0 { hasField = true }
        try add(UnsafeRawBufferPointer(rebasing: buffer[..<decoded]), collector)
        guard let separator = rest.first else { return }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
        switch separator {
        case UInt8(ascii: "&"): try endField(collector)
        case UInt8(ascii: "="): try beginValue(collector)
        // A control character.
        default:
          throw UploadRefusal(
            .init(.malformedBody), status: 400,
            "Byte \(offset) is not text, but the Content-Type says that the body is URL-encoded: send the body's own "
              + "type, such as application/octet-stream, or send it by PUT.")
        }
        offset += 1
      }
    }
  }

  func end(_ collector: PartCollector) throws {
    try endField(collector)
  }

  /// Decodes bytes up to a byte that ends the name or value, or that is not text. Stops earlier if there is one byte more
  /// than the room allows.
  private func decode(
    _ bytes: UnsafeRawBufferPointer, into decoded: UnsafeMutableRawBufferPointer
  ) -> (read: Int, decoded: Int) {
    // In a value, `=` has no special meaning. 0 takes its place, because a NUL is never text.
    let equals = isInValue ? 0 : UInt8(ascii: "=")
    let limit = min(room, .max - 1) + 1
    var (read, count) = (0, 0)
    func append(_ byte: UInt8) {
      decoded[count] = byte
      count += 1
    }
    while read < bytes.count, count < limit {
      let byte = bytes[read]
      if !code.isEmpty {
        guard let digit = Hexadecimal.value(of: byte) else {
          // These bytes are not a percent code. The current byte may begin another code.
          code.forEach(append)
          code.removeAll(keepingCapacity: true)
          continue
        }
        if code.count == 2, let high = Hexadecimal.value(of: code[1]) {
          append(high << 4 | digit)
          code.removeAll(keepingCapacity: true)
        } else {
          code.append(byte)
        }
        read += 1
        continue
      }
      switch byte {
      case UInt8(ascii: "%"):
        if bytes.count - read > 2, let high = Hexadecimal.value(of: bytes[read + 1]),
          let low = Hexadecimal.value(of: bytes[read + 2])
        {
          append(high << 4 | low)
          read += 2
        } else {
          code.append(byte)
        }
        read += 1
      case UInt8(ascii: "+"):
        append(0x20)
        read += 1
      case _ where isPlain(byte) && byte != equals:
        // All bytes before the next byte with a special meaning are copied at once. Copying them one by one takes several times
        // as long.
        let rest = bytes[read...].prefix(Int(clamping: limit - Int64(count)))
        let end = rest.firstIndex { !isPlain($0) || $0 == equals } ?? rest.endIndex
        UnsafeMutableRawBufferPointer(rebasing: decoded[count...])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<end]))
        count += end - read
        read = end
      default:
        return (read, count)
      }
    }
    return (read, count)
  }

  /// Whether a byte stands for itself. Text that a client forgot to encode is accepted, line ends included.
  private func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "%"), UInt8(ascii: "+"), UInt8(ascii: "&"): false
    case 0x20..<0x7F, 0x80..., 0x09, 0x0A, 0x0D: true
    default: false
    }
  }

  /// Adds decoded bytes to the current name or value.
  private func add(_ bytes: UnsafeRawBufferPointer, _ collector: PartCollector) throws {
    room -= Int64(bytes.count)
    guard room >= 0 else { throw limitExceeded }
    if isInValue {
      if !bytes.isEmpty { try collector.write(bytes) }
    } else {
      name.append(contentsOf: bytes)
      nameBytes += Int64(bytes.count)
    }
  }

  /// Adds the bytes of a percent code that is cut off by the end of the name or value.
  private func addIncompleteCode(_ collector: PartCollector) throws {
    let code = code
    self.code.removeAll(keepingCapacity: true)
    try code.withUnsafeBytes { try add($0, collector) }
  }

  private func beginValue(_ collector: PartCollector) throws {
    try addIncompleteCode(collector)
    fields += 1
    guard fields <= limits.parts else {
      throw refusal("The body has more than \(counted(limits.parts, "field", "fields"))")
    }
    try collector.begin(PartDescription(name: String(decoding: name, as: UTF8.self)))
    isInValue = true
    hasField = true
    room = limits.partBytes ?? .max
  }

  private func endField(_ collector: PartCollector) throws {
    if hasField {
      if !isInValue { try beginValue(collector) }
      try addIncompleteCode(collector)
      try collector.endPart()
    }
    name.removeAll(keepingCapacity: true)
    isInValue = false
    hasField = false
    room = min(Int64(limits.headerBlock), limits.allHeaders - nameBytes)
  }

  private var limitExceeded: UploadRefusal {
    if let limit = limits.partBytes, isInValue {
      return refusal("A field has more than \(counted(limit, "byte", "bytes"))")
    }
    return Int64(limits.headerBlock) <= limits.allHeaders - nameBytes + Int64(name.count)
      ? refusal("A field's name has more than \(counted(limits.headerBlock, "byte", "bytes"))")
      : refusal("The fields' names have more than \(counted(limits.allHeaders, "byte", "bytes"))")
  }

  private func refusal(_ what: String) -> UploadRefusal {
    UploadRefusal(
      .init(.limitExceeded), status: 413,
      "\(what) at byte \(offset): send less, or raise the receiver's limits.")
  }
}
