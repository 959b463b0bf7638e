// Writes the body of a form to standard output, and its headers to standard error:
//
//     encode-only photo.jpg > body
//
// It imports only FormStreamMultipart, which does not need Foundation, so the program is small.

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
  // A form is a plain value. Adding a file opens nothing.
  let form = Form {
    Part.text("title", "From the sample")
    for path in CommandLine.arguments.dropFirst() {
      Part.file("file", path)
    }
  }

  // Laying it out reads the status of all files and adds up the exact length, without reading
  // contents.
  let layout = try form.layout()
  say("Content-Type: \(layout.contentType)")
  if let length = layout.contentLength { say("Content-Length: \(length)") }

  // The reader opens the files, one at a time. This buffer is the only memory that it needs,
  // however large they are.
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
