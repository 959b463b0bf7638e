import FormStreamReceiver

struct CountingHandler: UploadHandler {  // called from many threads
  func begin(_ request: UploadRequest) throws -> any Upload {
    guard request.method == "POST" else {
      throw UploadRefusal(.methodNotAllowed, status: 405, "Only forms are counted: use POST.")
    }
    return Counting()
  }
}

final class Counting: Upload {  // one request; only the thread of its connection calls it
  func begin(_ part: PartDescription) throws -> any PartSink { Count() }

  func end(_ parts: [ReceivedPart]) throws { print(parts.count) }  // all of the request is there
}

final class Count: PartSink {  // one part
  private var size = 0

  func write(_ bytes: UnsafeRawBufferPointer) throws { size += bytes.count }
  func end() throws { print(size) }  // the part is complete; the request may still fail
}
