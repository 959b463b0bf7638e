import FormStreamMultipart
import FormStreamTestSupport

/// Faults on purpose, one of each kind that the fuzzer is there for, each behind something that no seed
/// has. Where they are planted (`-D PLANTED`), it must find them, or its silence means nothing.
enum Planted {
  #if PLANTED
    private static let isPlanted = true
  #else
    private static let isPlanted = false
  #endif

  /// The parser's: looks at the byte behind a body that breaks off behind a delimiter and a tab, with a
  /// part before it.
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

  /// The disposition's: traps on an empty name beside a file name.
  static func trap(_ disposition: ContentDisposition?) {
    guard isPlanted, let disposition, let filename = disposition.filename else { return }
    precondition(disposition.name?.isEmpty != true || filename.isEmpty, "planted")
  }

  /// The content type's: looks at all that follows from each quote on.
  static func linger(_ type: String) {
    guard isPlanted else { return }
    let bytes = Array(type.utf8)
    var quotes = 0
    for place in bytes.indices where bytes[place] == 0x22 {
      for byte in bytes[place...] where byte == 0x22 { quotes &+= 1 }
    }
    if quotes == -1 { print("no quotes") }
  }

  /// The round trip's: loses the last byte of a part's two tabs.
  static func change(_ bytes: inout [UInt8]) {
    guard isPlanted, let tabs = bytes.firstRange(of: [0x09, 0x09]) else { return }
    bytes.remove(at: tabs.lowerBound)
  }
}
