import FormStreamMultipart

enum FormStreamLibrary: Library {
  static func parse(_ chunks: Chunks, boundary: String) async throws -> Count {
    var count = Count()
    for try await event in FormEvents(of: chunks, parser: try FormParser(boundary: boundary)) {
      switch event {
      case .partBegan(let head):
        count.parts += 1
        count.names += head.name?.utf8.count ?? 0
      case .partBytes(let bytes): count.bytes += bytes.count
      case .partEnded, .formEnded: break
      }
    }
    return count
  }

  static func encode(
    _ fields: Fields, boundary: String, to take: (ArraySlice<UInt8>) throws -> Void
  ) async throws {
    var form = Form(boundary: try Boundary(boundary))
    switch fields {
    case .file(let bytes): form.append(.bytes("file", bytes, filename: "file"))
    // It reads an array in chunks by itself.
    case .chunks(let chunks): form.append(.bytes("file", chunks.bytes, filename: "file"))
    case .texts(let texts): for (name, text) in texts { form.append(.text(name, text)) }
    }
    for try await chunk in try form.layout().chunks { try take(chunk[...]) }
  }
}
