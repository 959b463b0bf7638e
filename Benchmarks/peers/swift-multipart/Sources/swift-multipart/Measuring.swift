import Glibc

struct Failure: Error, CustomStringConvertible {
  let description: String
}

func seconds(_ work: () async throws -> Void) async rethrows -> Double {
  let clock = ContinuousClock()
  let start = clock.now
  try await work()
  return start.duration(to: clock.now) / .seconds(1)
}

/// Parses a file twice. The first time is not measured: it brings the code into memory.
func measureParsing(_ library: any Library.Type, _ path: String, boundary: String) async throws {
  let chunks = Chunks(bytes: try bytes(of: path))
  _ = try await library.parse(chunks, boundary: boundary)
  var count = Count()
  let seconds = try await seconds { count = try await library.parse(chunks, boundary: boundary) }
  report(count, seconds)
}

/// Encodes a form twice. The first time is not measured: FormStream's parser counts what the body contains.
func measureEncoding(_ library: any Library.Type, _ fields: Fields, boundary: String) async throws {
  var body: [UInt8] = []
  try await library.encode(fields, boundary: boundary) { body += $0 }
  let count = try await FormStreamLibrary.parse(Chunks(bytes: body), boundary: boundary)
  let expected = body.count
  body = []
  var size = 0
  let seconds = try await seconds {
    try await library.encode(fields, boundary: boundary) { size += $0.count }
  }
  guard size == expected else { throw Failure(description: "the second body has another size") }
  report(count, seconds)
}

func report(_ count: Count, _ seconds: Double) {
  print(
    """
    {"parts": \(count.parts), "bytes": \(count.bytes), "names": \(count.names), "seconds": \(seconds)}
    """)
}

func bytes(of path: String) throws -> [UInt8] {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { throw Failure(description: "\(path) can't be opened") }
  defer { close(file) }
  let size = Int(lseek(file, 0, SEEK_END))
  return [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
    while filled < size {
      let room = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
      let count = pread(file, room.baseAddress, room.count, off_t(filled))
      guard count > 0 else { break }
      filled += count
    }
  }
}

/// Writes to standard error. (The C library's `stderr` is a variable, which Swift 6 does not allow.)
func complain(_ text: String) {
  var text = text
  _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
