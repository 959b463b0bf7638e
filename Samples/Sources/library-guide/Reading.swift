import FormStream
import Foundation

func read(_ stream: InputStream, contentType: String) throws {
  let parser = try FormParser(contentType: contentType)
  try parser.parse(stream) { event in
    switch event {
    case .partBegan(let head): print(head.name ?? "", head.filename ?? "")
    case .partBytes(let bytes): print(bytes.count)  // valid until the next event
    case .partEnded: print("The part is complete.")
    case .formEnded: print("The form is complete.")
    }
  }
}

func readSmallForm(_ stream: InputStream, contentType: String) throws {
  let parser = try FormParser(contentType: contentType)
  let form = try CollectedForm(reading: stream, with: parser, limit: 1 << 20)
  print(form["title"]?.text ?? "")
}

func read(_ bytes: [UInt8], contentType: String) throws {
  let form = try CollectedForm(parsing: bytes, contentType: contentType)
  for part in form.parts {
    print(part.head.name ?? "", part.head.filename ?? "no file", part.bytes.count)
  }
  print(form["title"]?.text ?? "")
}

func readArriving(_ chunks: AsyncStream<[UInt8]>, contentType: String) async throws {
  let parser = try FormParser(contentType: contentType)
  for try await event in FormEvents(of: chunks, parser: parser) {
    switch event {
    case .partBegan(let head): print(head.name ?? "", head.filename ?? "")
    case .partBytes(let bytes): print(bytes.count)  // a copy, which is yours
    case .partEnded: print("The part is complete.")
    case .formEnded: print("The form is complete.")
    }
  }
}

final class FormReading {
  private let parser: FormParser

  init(contentType: String) throws { parser = try FormParser(contentType: contentType) }

  /// For each piece of the body.
  func received(_ bytes: UnsafeRawBufferPointer) throws {
    try parser.feed(bytes, to: handle)
  }

  /// At the end of the body: throws if the form is not complete.
  func ended() throws {
    while let event = try parser.finish() { handle(event) }
  }

  private func handle(_ event: FormParser.Event) {
    if case .partBegan(let head) = event { print(head.name ?? "") }
  }
}
