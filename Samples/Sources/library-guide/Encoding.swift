// The examples of docs/library.md, so that they are compiled. A test compares them with the page.

import FormStream
import FormStreamMediaTypes
import Foundation

func makeForm(data: Data, chunks: AsyncStream<[UInt8]>) -> Form {
  let form = Form {
    Part.text("title", "Sunset")
    Part.file("photo", "sunset.jpg", type: "image/jpeg")
    Part.bytes("blob", data, filename: "blob.bin")  // Data, [UInt8], …
    Part(name: "log", body: .inputStream { InputStream(fileAtPath: "log") })  // of unknown length
    Part(name: "feed", body: .asyncChunks(replay: .once) { chunks })  // an AsyncSequence
  }
  return form
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

func encodeWithDetectedTypes(_ form: Form) throws -> FormInputStream {
  let sniffer = MediaTypeSniffer()  // detects the types that you don't set
  return try FormInputStream(form, guessing: sniffer)
}
