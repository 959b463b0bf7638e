import FormStreamDigest
import FormStreamMultipart
import FormStreamPlatform

/// A file that the demo makes and sends.
struct SampleFile {
  let field: String
  let name: String
  let content: [UInt8]
  /// How often the content is repeated in the file.
  var repetitions = 1

  /// Files of different kinds: an empty one, one with an awkward name, and a large one.
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

  /// Writes the file, and returns the digest of the written bytes.
  func write(
    to path: LocalPath, checking interruption: Interruption
  ) throws(Failure) -> SHA256.Digest {
    do {
      let file = try AtomicFile(for: path, permissions: 0o600)
      var digest = try SHA256()
      for _ in 0..<repetitions {
        try interruption.check()
        try content.withUnsafeBytes {
          try file.write($0)
          try digest.update($0)
        }
      }
      try file.replace(path.name)
      return try digest.finalize()
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(.inputOutput, "The file \"\(path)\" could not be written: \(error).")
    }
  }
}

/// Reads a file and returns its digest.
func digest(
  of path: LocalPath, checking interruption: Interruption
) throws -> SHA256.Digest {
  let source = try DescriptorSource(opening: path)
  defer { source.close() }
  var digest = try SHA256()
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
  defer { buffer.deallocate() }
  while true {
    try interruption.check()
    let count = try source.read(into: buffer)
    if count == 0 { return try digest.finalize() }
    try digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
  }
}
