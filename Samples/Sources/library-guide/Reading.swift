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
