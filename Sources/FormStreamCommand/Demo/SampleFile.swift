import FormStreamDigest
import FormStreamMultipart
import FormStreamRecords

/// A file that the demo makes, and what is known of it before it is sent.
struct SampleFile {
  let field: String
  let name: String
  let content: [UInt8]
  /// How often the content stands in it.
  var repetitions = 1

  /// Files of different kinds: an empty one, one with an awkward name, and one that takes a while.
  static let all = [
    SampleFile(
      field: "photo", name: "sunset.png",
      content: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D]
        + Array("IHDR".utf8) + [0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0] + noise(2000)),
    SampleFile(
      field: "notes", name: "Grüße; from afar.md",
      content: Array("# Grüße\n\nA name with umlauts, blanks and a semicolon.\n".utf8)),
    SampleFile(
      field: "order", name: "order.json",
      content: Array("{\"schema\":\"example/1\",\"items\":[1,2,3]}\n".utf8)),
    SampleFile(
      field: "archive", name: "photos.gz",
      content: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + noise(9000)),
    SampleFile(field: "nothing", name: "empty.txt", content: []),
    SampleFile(field: "film", name: "film.bin", content: noise(1024 * 1024), repetitions: 512),
  ]

  private static func noise(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
      withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { bytes.append(contentsOf: $0) }
    }
    return Array(bytes.prefix(count))
  }

  var size: Int64 { Int64(content.count) * Int64(repetitions) }

  /// Writes the file, and returns the digest of what was written.
  func write(to path: LocalPath, until ending: DemoEnding) throws(Failure) -> SHA256.Digest {
    do {
      let file = try OutputDescriptor(making: path)
      var digest = try SHA256()
      for _ in 0..<repetitions {
        try ending.check()
        try file.write(content)
        try content.withUnsafeBytes { try digest.update($0) }
      }
      return try digest.finalize()
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(.inputOutput, "The file \"\(path)\" could not be written: \(error).")
    }
  }
}

/// The digest of a file as it is on the disk.
func digest(of path: LocalPath, until ending: DemoEnding) throws -> SHA256.Digest {
  let source = try DescriptorSource(opening: path)
  defer { source.close() }
  var digest = try SHA256()
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
  defer { buffer.deallocate() }
  while true {
    try ending.check()
    let count = try source.read(into: buffer)
    if count == 0 { return try digest.finalize() }
    try digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
  }
}
