import FormStreamIntake
import FormStreamMultipart

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
  private var decoder = PercentDecoder(readsPlusAsSpace: true)
  private var decoded: [UInt8] = []
  private var fields = 0
  /// The bytes of all names, which the record keeps.
  private var nameBytes: Int64 = 0
  private var offset: Int64 = 0

  init(limits: FormParser.Limits) {
    self.limits = limits
  }

  func read(_ bytes: UnsafeRawBufferPointer, into collector: PartCollector) throws {
    for byte in bytes {
      // Text that a client forgot to encode is accepted, line ends included; other control characters are not text.
      guard byte >= 0x20 && byte != 0x7F || [0x09, 0x0A, 0x0D].contains(byte) else {
        throw UploadRefusal(
          .init(.malformedBody), status: 400,
          "Byte \(offset) is not text, but the Content-Type says that the body is URL-encoded: send the body's own "
            + "type, such as application/octet-stream, or send it by PUT.")
      }
      offset += 1
      switch byte {
      case UInt8(ascii: "&"): try endField(collector)
      case UInt8(ascii: "="):
        if isInValue { decoder.append(byte, to: &decoded) } else { try beginValue(collector) }
      default: decoder.append(byte, to: &decoded)
      }
      if !isInValue {
        hasField = hasField || byte != UInt8(ascii: "&")
        try appendToName()
      }
    }
    try flush(collector)
  }

  func end(_ collector: PartCollector) throws {
    try endField(collector)
  }

  private func beginValue(_ collector: PartCollector) throws {
    decoder.finish(to: &decoded)
    try appendToName()
    fields += 1
    guard fields <= limits.parts else {
      throw limitExceeded("The body has more than \(limits.parts) fields")
    }
    try collector.begin(PartDescription(name: String(decoding: name, as: UTF8.self)))
    isInValue = true
    hasField = true
  }

  private func appendToName() throws {
    name += decoded
    nameBytes += Int64(decoded.count)
    decoded.removeAll(keepingCapacity: true)
    guard name.count <= limits.headerBlock else {
      throw limitExceeded("A field's name has more than \(limits.headerBlock) bytes")
    }
    guard nameBytes <= limits.allHeaders else {
      throw limitExceeded("The fields' names have more than \(limits.allHeaders) bytes")
    }
  }

  private func endField(_ collector: PartCollector) throws {
    decoder.finish(to: &decoded)
    if hasField || isInValue || !decoded.isEmpty {
      if !isInValue { try beginValue(collector) }
      try flush(collector)
      try collector.endPart()
    }
    name.removeAll(keepingCapacity: true)
    isInValue = false
    hasField = false
  }

  private func flush(_ collector: PartCollector) throws {
    guard isInValue, !decoded.isEmpty else { return }
    try decoded.withUnsafeBytes(collector.write)
    decoded.removeAll(keepingCapacity: true)
  }

  private func limitExceeded(_ what: String) -> UploadRefusal {
    UploadRefusal(
      .init(.limitExceeded), status: 413,
      "\(what) at byte \(offset): send less, or raise the receiver's limits.")
  }
}
