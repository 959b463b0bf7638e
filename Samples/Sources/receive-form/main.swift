// Receives one upload and counts the lines of its files, without storing them.
//
//     receive-form &                     prints its URL
//     curl -F f=@notes.txt http://127.0.0.1:…/

import Glibc
import FormStreamReceiver

/// Decides what happens to uploads. The library has `DirectoryHandler` and `DiscardHandler`; this
/// is your own.
struct CountingHandler: UploadHandler {
  func begin(_ request: UploadRequest) throws -> any Upload {
    // Check the headers here, and refuse the upload if necessary.
    guard request.method == "POST" else {
      throw UploadRefusal(.methodNotAllowed, status: 405, "Only forms are counted: use POST.")
    }
    return Counting()
  }
}

/// One upload. Only the thread of its connection uses it.
final class Counting: Upload {
  func begin(_ part: PartDescription) -> any PartSink { LineCount() }

  // The upload is complete only now. The parts include text fields.
  func end(_ parts: [ReceivedPart]) {}
}

final class LineCount: PartSink {
  private var lines = 0
  // The response contains this as `stored_as` of the part.
  private(set) var storedAs: String?

  func write(_ bytes: UnsafeRawBufferPointer) {
    // The bytes are valid during the call. Slow code here delays only this client.
    lines += bytes.count { $0 == UInt8(ascii: "\n") }
  }

  func end() { storedAs = "\(lines) lines" }
}

let (requests, continuation) = AsyncStream.makeStream(of: ReceivedRequest.self)
let receiver = try Receiver.start(handler: CountingHandler()) { continuation.yield($0) }
print(receiver.url)
// Without this, a pipe would get the line only when the buffer is full.
fflush(nil)

for await request in requests {
  for part in request.parts {
    print(part.filename ?? "(text)", part.size, part.storedAs ?? "", separator: "\t")
  }
  print(request.error.map { "refused: \($0.message)" } ?? "The form is complete.")
  if request.isComplete { break }
}
await receiver.stop()
