import Glibc
import Measuring
import FormStreamMultipart

/// What a body contained. The bytes are counted and not copied.
struct Count {
  var parts = 0
  var bytes = 0
  var names = 0
  var isComplete = false

  mutating func add(_ event: FormParser.Event) {
    switch event {
    case .partBegan(let head):
      parts += 1
      names += head.name?.utf8.count ?? 0
    case .partBytes(let more): bytes += more.count
    case .partEnded: break
    case .formEnded: isComplete = true
    }
  }
}

extension FormParser {
  /// Parses bytes in pieces of that size.
  func feed(_ bytes: UnsafeRawBufferPointer, piece: Int, to count: inout Count) throws {
    var place = 0
    while place < bytes.count {
      let end = min(place + piece, bytes.count)
      try feed(UnsafeRawBufferPointer(rebasing: bytes[place..<end])) { count.add($0) }
      place = end
    }
  }
}

/// Parses a file twice. The first time is not measured: it brings the file and the code into memory.
func measureFile(_ path: String, boundary: String, piece: Int) throws {
  var options = FormParser.Options()
  options.limits.parts = 200_000
  try withMapping(of: path) { body in
    let size = piece > 0 ? piece : body.count
    for isMeasured in [false, true] {
      let parser = try FormParser(boundary: boundary, options: options)
      var count = Count()
      let timing = try Timing {
        try parser.feed(body, piece: size, to: &count)
        while let event = try parser.finish() { count.add(event) }
      }
      guard isMeasured else { continue }
      print(
        """
        {"parts": \(count.parts), "bytes": \(count.bytes), "names": \(count.names), \
        "seconds": \(timing.wall)}
        """)
    }
  }
}

/// Passes on a file's bytes, mapped from the page cache.
private func withMapping(of path: String, _ work: (UnsafeRawBufferPointer) throws -> Void) throws {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { throw Failure("\(path) can't be opened") }
  defer { close(file) }
  let size = Int(lseek(file, 0, SEEK_END))
  let start = mmap(nil, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0)
  guard let start, start != MAP_FAILED else { throw Failure("\(path) can't be mapped") }
  defer { munmap(start, size) }
  try work(UnsafeRawBufferPointer(start: start, count: size))
}
