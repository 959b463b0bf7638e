import HTTPTypes
import MultipartKit

enum MultipartKitLibrary: Library {
  static func parse(_ chunks: Chunks, boundary: String) async throws -> Count {
    var count = Count()
    for try await section in StreamingMultipartParserAsyncSequence(
      boundary: boundary, buffer: chunks)
    {
      switch section {
      case .headerFields(let fields):
        let part = MultipartPart(headerFields: fields, body: ArraySlice<UInt8>())
        count.parts += 1
        count.names += try part.contentDisposition?.name?.utf8.count ?? 0
      case .bodyChunk(let bytes): count.bytes += bytes.count
      case .boundary: break
      }
    }
    return count
  }

  static func encode(
    _ fields: Fields, boundary: String, to take: (ArraySlice<UInt8>) throws -> Void
  ) async throws {
    var writer = MemoryMultipartWriter<[UInt8]>(boundary: boundary)
    let file = head("file", "; filename=\"file\"")
    switch fields {
    case .file(let bytes): writer.writePart(MultipartPart(headerFields: file, body: bytes))
    case .chunks(let chunks):
      for try await chunk in StreamingMultipartWriterAsyncSequence(
        backingSequence: Sections(head: file, chunks: chunks), boundary: boundary,
        outboundBody: [UInt8].self)
      { try take(chunk[...]) }
      return
    case .texts(let texts):
      for (name, text) in texts {
        writer.writePart(MultipartPart(headerFields: head(name), body: Array(text.utf8)))
      }
    }
    await writer.finish()
    try take(writer.getResult()[...])
  }

  private static func head(_ name: String, _ more: String = "") -> HTTPFields {
    [.contentDisposition: "form-data; name=\"\(name)\"\(more)"]
  }
}

/// The sections of a form with one part.
private struct Sections: AsyncSequence {
  let head: HTTPFields
  let chunks: Chunks

  struct AsyncIterator: AsyncIteratorProtocol {
    var opening: [MultipartSection<ArraySlice<UInt8>>]
    var chunks: Chunks.AsyncIterator
    var hasEnded = false

    mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> MultipartSection<ArraySlice<UInt8>>? {
      if let section = opening.popLast() { return section }
      if let chunk = await chunks.next(isolation: actor) { return .bodyChunk(chunk) }
      defer { hasEnded = true }
      return hasEnded ? nil : .boundary(end: true)
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(
      opening: [.headerFields(head), .boundary(end: false)], chunks: chunks.makeAsyncIterator())
  }
}
