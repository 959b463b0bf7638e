// The examples of docs/library.md and of the articles about the library, so that they are compiled. A test compares them with
// the pages.

import FormStream
import Foundation

func makeForm(data: Data, chunks: AsyncStream<[UInt8]>) -> Form {
  let form = Form {
    Part.text("title", "Sunset")
    Part.text("rating", 5)  // numbers and Booleans, too
    Part.file("photo", "sunset.jpg")  // image/jpeg, from its extension
    Part.bytes("blob", data, filename: "blob.bin")  // Data, [UInt8], …
    Part(name: "log", body: .inputStream { InputStream(fileAtPath: "log") })  // of unknown length
    Part(name: "feed", body: .asyncChunks(chunks))  // an AsyncSequence of chunks or bytes
  }
  return form
}

func makeForm(of photo: some Encodable) throws -> Form {
  return try Form {
    try Part.fields(of: photo)  // title, tags, tags, place[city]; place.city with nesting: .dots
    try Part.json("metadata", photo)
  }
}

func makeRelatedForm(metadata: String) -> Form {
  let form = Form(type: .related) {  // or .mixed, .alternative, "multipart/report; …"
    Part(type: .json, body: .text(metadata))
    Part(type: "image/png", body: .file("sunset.png"))
  }
  return form
}

func read(_ form: Form) throws {
  let layout = try form.layout()
  print(layout.contentType, layout.contentLength ?? -1)
  let reader = layout.makeReader()
  while case let piece = try reader.read(upTo: 65536), !piece.isEmpty { print(piece.count) }
  try reader.seek(to: 0)  // any offset, except across a part that can be read once
}

func readChunks(_ form: Form) async throws {
  let layout = try form.layout()
  for try await chunk in layout.chunks { print(chunk.count) }  // up to 64 KiB
}

func encode(_ form: Form) throws {
  let stream = try FormInputStream(form)  // looks at the files, opens none
  print(stream.contentType)  // multipart/form-data; boundary=FormStream-…
  print(stream.contentLength ?? "unknown")  // nil if the length of a part is not known

  stream.open()  // then read(_:maxLength:), as from any InputStream
  try stream.seek(to: 0)  // any offset, except across a part that can be read once
  let again = stream.copy()  // a fresh stream: use one for each attempt
  _ = again
}
