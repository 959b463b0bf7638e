// Posts files as a form, and prints the progress and the result:
//
//     post-form https://example.org/upload photo.jpg

import FormStream
import Foundation
import FormStreamTransfer

func say(_ line: String) {
  FileHandle.standardError.write(Data((line + "\n").utf8))
}

let arguments = CommandLine.arguments.dropFirst()
guard let url = arguments.first, arguments.count > 1 else {
  say("usage: post-form URL FILE...")
  exit(64)
}

let form = Form {
  Part.text("title", "From the sample")
  for path in arguments.dropFirst() { Part.file("file", path) }
}

do {
  var request = try TransferRequest(.post, url, body: .form(form))
  // Repeats only requests that the server can't have acted on.
  request.options.retry = RetryPolicy(attempts: 3)

  let session = try TransferSession()
  let result = await session.result(of: request) { progress in
    // The fraction is nil if a part is a pipe. It is 1 only after the system has accepted the last
    // byte.
    if let fraction = progress.fraction { say("\(Int(fraction * 100)) %") }
  }

  // `ok` means that the server accepted a request with exactly the bytes on the disk. `unknown`
  // means that it may have: check before you send the form again.
  say("\(result.outcome.rawValue), after \(result.bytesSent) bytes")
  if let error = result.error { say("\(error)") }
  if let response = result.response { print(response.text) }
  exit(result.outcome == .ok ? 0 : 1)
} catch {
  say("\(error)")
  exit(64)
}
