import FormStream
import Glibc
import Measuring

/// Reads `path` through FormInputStream and through a plain loop, in turn, so that other load on the machine
/// affects both. The one that goes first changes with each round.
func compareDraining(of path: String, buffer size: Int, rounds: Int) throws {
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
  defer { buffer.deallocate() }
  let form = Form { Part.file("file", path) }
  // One round is not measured: it brings the file into the page cache and the code into memory.
  let fileSize = try readPlainly(path, into: buffer)
  guard try drain(form, into: buffer) > fileSize else { throw Failure("the body is too short") }

  var ours: [Timing] = []
  var plain: [Timing] = []
  for round in 0..<rounds {
    if round.isMultiple(of: 2) {
      ours.append(try Timing { _ = try drain(form, into: buffer) })
      plain.append(try Timing { _ = try readPlainly(path, into: buffer) })
    } else {
      plain.append(try Timing { _ = try readPlainly(path, into: buffer) })
      ours.append(try Timing { _ = try drain(form, into: buffer) })
    }
  }
  print(
    """
    {"bytes": \(fileSize), "ours": \(ours.map(\.wall)), "peer": \(plain.map(\.wall)), \
    "ours_cpu": \(ours.map(\.cpu)), "peer_cpu": \(plain.map(\.cpu))}
    """)
}

/// Reads `path` through FormInputStream, once.
func streamOnce(_ path: String, buffer size: Int) throws {
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
  defer { buffer.deallocate() }
  var count = 0
  let timing = try Timing {
    count = try drain(Form { Part.file("file", path) }, into: buffer)
  }
  print("{\"bytes\": \(count), \"seconds\": \(timing.wall)}")
}

/// Everything that a body costs: the layout, the stream, and each byte.
private func drain(_ form: Form, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
  let stream = try FormInputStream(form)
  let bytes = buffer.assumingMemoryBound(to: UInt8.self)
  guard let start = bytes.baseAddress else { throw Failure("the buffer is empty") }
  stream.open()
  defer { stream.close() }
  var total = 0
  while true {
    let count = stream.read(start, maxLength: bytes.count)
    if count == 0 { return total }
    guard count > 0 else { throw stream.streamError ?? Failure("reading failed") }
    total += count
  }
}

private func readPlainly(
  _ path: String, into buffer: UnsafeMutableRawBufferPointer
) throws -> Int {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { throw Failure("\(path) can't be opened") }
  defer { close(file) }
  var total = 0
  while true {
    let count = read(file, buffer.baseAddress, buffer.count)
    if count == 0 { return total }
    guard count > 0 else { throw Failure("\(path) can't be read") }
    total += count
  }
}
