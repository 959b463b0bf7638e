import FormStreamMultipart
import FormStreamTestSupport
import FormStreamWire

/// Deliberate faults, one of each kind that the fuzzer must find. Each needs input that no seed
/// has. With `-D PLANTED` the fuzzer must find them, which shows that it works.
enum Planted {
  #if PLANTED
    private static let isPlanted = true
  #else
    private static let isPlanted = false
  #endif

  /// For the parser: reads the byte after a body that ends after a delimiter and a tab, with a part
  /// before it.
  static func overread(_ body: [UInt8], _ run: ParserRun) {
    guard isPlanted, run.code == .bodyIncomplete, run.parts.last?.isComplete == true,
      body.last == 0x09
    else { return }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: body.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: body)
    if memory.baseAddress?.load(fromByteOffset: body.count, as: UInt8.self) == 0x0A {
      print("a line's end")
    }
  }

  /// For the disposition: traps on an empty name and a file name.
  static func trap(_ disposition: ContentDisposition?) {
    guard isPlanted, let disposition, let filename = disposition.filename else { return }
    precondition(disposition.name?.isEmpty != true || filename.isEmpty, "planted")
  }

  /// For the content type: reads everything after each quote.
  static func linger(_ type: String) {
    guard isPlanted else { return }
    let bytes = Array(type.utf8)
    var quotes = 0
    for place in bytes.indices where bytes[place] == 0x22 {
      for byte in bytes[place...] where byte == 0x22 { quotes &+= 1 }
    }
    if quotes == -1 { print("no quotes") }
  }

  /// For the round trip: loses the last byte of a part that is two tabs.
  static func change(_ bytes: inout [UInt8]) {
    guard isPlanted, let tabs = bytes.firstRange(of: [0x09, 0x09]) else { return }
    bytes.remove(at: tabs.lowerBound)
  }

  /// For the response: loses a body with a tab that ends with the connection.
  static func lose(_ body: inout [UInt8], _ run: ExchangeRun) {
    guard isPlanted, run.framing == .untilClose, body.contains(0x09) else { return }
    body = []
  }
}
