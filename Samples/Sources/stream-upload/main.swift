// Reads a form as an `InputStream`, as HTTP clients do that accept a stream as the body, and prints
// the progress:
//
//     stream-upload photo.jpg > body
//
// Here the bytes are written to standard output. A client would get the same stream and the two
// headers.

import FormStream
import Foundation

func say(_ line: String) {
  FileHandle.standardError.write(Data((line + "\n").utf8))
}

guard CommandLine.arguments.count > 1 else {
  say("usage: stream-upload FILE... > BODY")
  exit(64)
}

do {
  var form = Form()
  form.append(.text("title", "From the sample"))
  for path in CommandLine.arguments.dropFirst() {
    form.append(.file("file", path))
  }

  // The stream lays out the form, so its type and length are known before the first byte is read.
  let stream = try FormInputStream(form)
  say("Content-Type: \(stream.contentType)")
  if let length = stream.contentLength { say("Content-Length: \(length)") }

  stream.open()
  defer { stream.close() }
  var buffer = [UInt8](repeating: 0, count: 64 * 1024)
  var lastPercentage: Int64 = -1
  while true {
    let count = stream.read(&buffer, maxLength: buffer.count)
    // 0 is the end. A negative count is a failure, and `streamError` says why: for example, a file
    // was changed while it was read. Then the bytes so far must be discarded.
    if count == 0 { break }
    guard count > 0 else { throw stream.streamError ?? CocoaError(.fileReadUnknown) }
    try FileHandle.standardOutput.write(contentsOf: buffer[..<count])

    // The length is nil if a part has no known length, such as a pipe. Then there is no percentage.
    if let length = stream.contentLength {
      let percentage = stream.position * 100 / length
      if percentage > lastPercentage { say("\(percentage) %") }
      lastPercentage = percentage
    }
  }
} catch {
  say("\(error)")
  exit(66)
}
