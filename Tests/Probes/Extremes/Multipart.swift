import FormStream
import FormStreamMediaTypes
import FormStreamURLSession
import Foundation

/// Making, laying out, reading and parsing.
func multipartCells() -> [Cell] {
  let file = "/proc/self/exe"
  var cells = Cell.each("FileRange(_:)", Extremes.ranges) { range in
    try read(.file(file, range: FileRange(range)))
  }
  for offset in Extremes.int64s {
    cells += Cell.each("FileRange(offset: \(offset), length:)", Extremes.int64s) { length in
      try read(.file(file, range: FileRange(offset: offset, length: length)))
    }
  }
  cells += lengthCells()
  cells += Cell.each("BodyReader.seek(to:)", Extremes.int64s) { offset in
    let reader = try form().layout().makeReader()
    _ = try? reader.seek(to: offset)
    return try reader.read(upTo: 100).count
  }
  cells += Cell.each("BodyReader.seek(to:) in a stream", Extremes.int64s) { offset in
    let reader = try PartBody.inputStream { InputStream(data: Data([1, 2, 3])) }.layout()
      .makeReader()
    _ = try? reader.seek(to: offset)
    return try reader.read(upTo: 100).count
  }
  cells += Cell.each("BodyReader.read(upTo:)", Extremes.integers) { count in
    try form().layout().makeReader().read(upTo: count).count
  }
  cells += Cell.each("BodyLayout.bytes(limit:)", Extremes.integers) { limit in
    try form().layout().bytes(limit: limit).count
  }
  cells += Cell.each("BodyLayout.bytes(limit:) of a stream", Extremes.integers) { limit in
    try PartBody.inputStream { InputStream(data: Data([1, 2, 3])) }.layout().bytes(limit: limit)
      .count
  }
  cells += Cell.each("FormInputStream.seek(to:)", Extremes.int64s) { offset in
    try FormInputStream(form()).seek(to: offset)
  }
  cells += Cell.each("FormInputStream.setProperty", Extremes.int64s) { offset in
    try FormInputStream(form()).setProperty(NSNumber(value: offset), forKey: .fileCurrentOffsetKey)
  }
  cells += Cell.each(
    "FormInputStream.read(_:maxLength:)", Extremes.integers.filter { $0 < 1 << 20 }
  ) {
    length in
    let stream = try FormInputStream(form())
    stream.open()
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    return stream.read(&buffer, maxLength: length)
  }
  cells += Cell.each("UntypedPart.firstBytes(upTo:)", Extremes.integers) { count in
    struct Detector: MediaTypeDetector {
      let count: Int
      func mediaType(of part: UntypedPart) -> MediaType? {
        _ = part.firstBytes(upTo: count)
        return nil
      }
    }
    let form = Form {
      Part.file("a", file)
      Part.bytes("b", [1, 2, 3], filename: "b")
      Part.stream("c", filename: "c") { try Source() }
    }
    return try form.layout(detector: Detector(count: count)).contentType
  }
  cells += Cell.each("Part.text of a number", Extremes.integers) { number in
    try Form { Part.text("a", number) }.layout().bytes(limit: 1000).count
  }
  cells += Cell.each("FormUploadProgress", Extremes.int64s) { count in
    FormUploadProgress(bytesSent: count, bytesTotal: count)
  }
  return cells + parserCells()
}

/// Parts of announced lengths.
private func lengthCells() -> [Cell] {
  var cells = Cell.each("PartBody.stream(length:)", Extremes.int64s) { length in
    try read(.stream(length: length) { try Source() })
  }
  cells += Cell.each("two of PartBody.stream(length:)", Extremes.int64s) { length in
    let form = Form {
      Part.stream("a", length: length) { try Source() }
      Part.stream("b", length: length) { try Source() }
    }
    let layout = try form.layout()
    let reader = layout.makeReader()
    try reader.seek(to: layout.contentLength ?? 0)
    return try reader.read(upTo: 10)
  }
  cells += Cell.each("PartBody.inputStream(length:)", Extremes.int64s) { length in
    try read(.inputStream(length: length) { InputStream(data: Data([1, 2, 3])) })
  }
  cells += Cell.each("PartBody.writing(length:)", Extremes.int64s) { length in
    try read(.writing(length: length) { try await $0.write("abc") })
  }
  cells += Cell.each("PartBody.asyncChunks(length:)", Extremes.int64s) { length in
    try read(.asyncChunks(AsyncStream<[UInt8]> { $0.finish() }, length: length))
  }
  cells += Cell.each("PartBody.descriptor(_:)", Extremes.int32s) { number in
    try read(.descriptor(number))
  }
  return cells
    + Cell.each("PartBody.descriptor(_:length:)", Extremes.int64s) { length in
      let pipe = Pipe()
      try pipe.fileHandleForWriting.write(contentsOf: Data([1, 2, 3]))
      try pipe.fileHandleForWriting.close()
      return try read(.descriptor(pipe.fileHandleForReading.fileDescriptor, length: length))
    }
}

private func parserCells() -> [Cell] {
  func limited<Value: Sendable>(
    _ name: String, _ values: [Value],
    _ set: @escaping @Sendable (inout FormParser.Limits, Value) -> Void
  ) -> [Cell] {
    Cell.each("FormParser.Limits.\(name)", values) { value in
      var options = FormParser.Options()
      set(&options.limits, value)
      let parser = try FormParser(boundary: "B", options: options)
      return try CollectedForm(reading: Source(body), with: parser, limit: 1000).parts.count
    }
  }
  var cells = Cell.each("CollectedForm(limit:)", Extremes.integers) { limit in
    try CollectedForm(reading: Source(body), with: FormParser(boundary: "B"), limit: limit).parts
      .count
  }
  cells += limited("boundary", Extremes.integers) { $0.boundary = $1 }
  cells += limited("headerBlock", Extremes.integers) { $0.headerBlock = $1 }
  cells += limited("headersPerPart", Extremes.integers) { $0.headersPerPart = $1 }
  cells += limited("allHeaders", Extremes.int64s) { $0.allHeaders = $1 }
  cells += limited("parts", Extremes.integers) { $0.parts = $1 }
  cells += limited("preamble", Extremes.int64s) { $0.preamble = $1 }
  cells += limited("epilogue", Extremes.int64s) { $0.epilogue = $1 }
  cells += limited("partBytes", Extremes.int64s) { $0.partBytes = $1 }
  cells += limited("totalBytes", Extremes.int64s) { $0.totalBytes = $1 }
  return cells
}

/// With a preamble, padding, two parts and an epilogue.
private let body =
  "preamble\r\n--B  \r\nContent-Disposition: form-data; name=\"a\"\r\nX: y\r\n\r\nabc\r\n--B\r\n"
  + "Content-Disposition: form-data; name=\"b\"\r\n\r\ndef\r\n--B--\r\nepilogue"

func form() -> Form {
  Form(boundary: .random()) {
    Part.text("a", "b")
    Part.bytes("c", [1, 2, 3])
  }
}

/// Lays a body out and reads its beginning.
private func read(_ body: PartBody) throws -> Int {
  let layout = try Form { Part(name: "a", body: body) }.layout()
  let reader = layout.makeReader()
  defer { reader.close() }
  var count = 0
  for _ in 0..<4 { count += try reader.read(upTo: 1 << 16).count }
  return count
}

/// A few bytes.
private final class Source: ByteSource {
  private var bytes: ArraySlice<UInt8>

  init(_ text: String = "abc") throws { bytes = Array(text.utf8)[...] }

  func read(into room: UnsafeMutableRawBufferPointer) -> Int {
    let piece = bytes.prefix(room.count)
    piece.withUnsafeBytes { room.copyMemory(from: $0) }
    bytes = bytes.dropFirst(piece.count)
    return piece.count
  }

  func close() {}
}
