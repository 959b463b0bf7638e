import FormStream
import Glibc
import Measuring

/// Makes a form and its layout, and reports the time of the layout and the memory of both.
func measureLayout(parts count: Int, _ part: (Int) -> Part) throws {
  // The first layout of a process also pays for what is set up once.
  _ = try Form(parts: [part(0)]).layout()

  let before = try residentBytes()
  var form = Form()
  let building = Timing { for number in 0..<count { form.append(part(number)) } }
  let formed = try residentBytes()
  var layout: BodyLayout?
  let timing = try Timing { layout = try form.layout() }
  let after = try residentBytes()
  withExtendedLifetime((form, layout)) {
    print(
      """
      {"parts": \(count), "bytes": \(layout?.contentLength ?? -1), "building": \(building.wall), \
      "seconds": \(timing.wall), "form": \(formed - before), "layout": \(after - formed), \
      "growth": \(after - before)}
      """)
  }
}

/// The simple alternative: the complete body in one array of bytes, files included.
func measureEager(parts count: Int, _ appendPart: (Int, inout [UInt8]) throws -> Void) throws {
  let before = try residentBytes()
  var body: [UInt8] = []
  let timing = try Timing {
    for number in 0..<count {
      body.append(contentsOf: "\r\n--FormStream-benchmark-boundary-000000\r\n".utf8)
      body.append(contentsOf: "Content-Disposition: form-data; ".utf8)
      try appendPart(number, &body)
    }
    body.append(contentsOf: "\r\n--FormStream-benchmark-boundary-000000--\r\n".utf8)
  }
  let after = try residentBytes()
  print(
    """
    {"parts": \(count), "bytes": \(body.count), "seconds": \(timing.wall), \
    "growth": \(after - before)}
    """)
}

/// The resident memory of this process: the second number of `/proc/self/statm`, in pages.
private func residentBytes() throws -> Int {
  let text = String(decoding: try bytes(of: "/proc/self/statm"), as: UTF8.self)
  guard let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
    throw Failure("/proc/self/statm can't be read")
  }
  return pages * sysconf(Int32(_SC_PAGESIZE))
}

/// All bytes of a small file.
func bytes(of path: String) throws -> [UInt8] {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { throw Failure("\(path) can't be opened") }
  defer { close(file) }
  return [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, filled in
    filled = max(0, read(file, buffer.baseAddress, buffer.count))
  }
}
