// Writes a form to standard output, as it would go to a server, and says on standard error which
// headers belong to it:
//
//     encode-only photo.jpg > body
//
// `Multipart` is all that it imports. It needs no Foundation, so the program stays small.

import Glibc
import FormStreamMultipart

func say(_ line: String) {
  var line = line + "\n"
  _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

guard CommandLine.arguments.count > 1 else {
  say("usage: encode-only FILE... > BODY")
  exit(64)
}

do {
  // A form is a plain value. Naming a file opens nothing.
  let form = Form {
    Part.text("title", "From the sample")
    for path in CommandLine.arguments.dropFirst() {
      Part.file("file", LocalPath(path))
    }
  }

  // Laying it out looks at every file and sums up the length, to the byte, without reading one.
  let layout = try form.layout()
  say("Content-Type: \(layout.contentType)")
  if let length = layout.contentLength { say("Content-Length: \(length)") }

  // Reading is where the files are opened, one at a time. However large they are, this buffer is all
  // the memory that it takes.
  let reader = layout.makeReader()
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
  defer { buffer.deallocate() }
  while true {
    let count = try reader.read(into: buffer)
    if count == 0 { break }
    var written = 0
    while written < count {
      let more = write(STDOUT_FILENO, buffer.baseAddress.map { $0 + written }, count - written)
      guard more >= 0 else {
        say("Writing failed.")
        exit(74)
      }
      written += more
    }
  }
} catch {
  // Each error is a sentence that says what failed, on what, and what to do.
  say("\(error)")
  exit(66)
}
