import FormStreamIntake
import FormStreamMultipart

/// Decodes a body according to its Content-Type.
enum BodyDecoder {
  case form(FormParser)
  case fields(FieldReader)
  /// A body of any other type counts as one part.
  case raw

  /// - Throws: ``MultipartError`` if the type is a multipart type without a valid boundary.
  init(
    contentType: String?, isPut: Bool, escaping: EscapingProfile?, limits: FormParser.Limits
  ) throws(MultipartError) {
    let type = (contentType ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }
    let name = String(decoding: type.filter { !$0.isBlank }, as: UTF8.self)
    if name.utf8.startsIgnoringCase(with: "multipart/") {
      var options = FormParser.Options()
      options.escaping = escaping
      options.limits = limits
      self = .form(try FormParser(contentType: contentType ?? "", options: options))
    } else if name.isSameHeaderName(as: "application/x-www-form-urlencoded"), !isPut {
      self = .fields(FieldReader(limits: limits))
    } else {
      // curl and wget announce files as URL-encoded unless they are given a type. So the body of a PUT always counts as a
      // file.
      self = .raw
    }
  }

  func decode(_ bytes: UnsafeRawBufferPointer, into collector: PartCollector) throws {
    switch self {
    case .form(let parser):
      var rest = bytes
      while let event = try parser.next(&rest) {
        if case .partBegan(let head) = event,
          head["Content-Range"] != nil
        {
          throw UploadRefusal.partialUpload("Content-Range")
        }
        try collector.handle(event)
      }
    case .fields(let reader): try reader.read(bytes, into: collector)
    case .raw: try collector.write(bytes)
    }
  }

  func end(_ collector: PartCollector) throws {
    switch self {
    case .form(let parser):
      while let event = try parser.finish() { try collector.handle(event) }
    case .fields(let reader): try reader.end(collector)
    case .raw: try collector.endPart()
    }
  }
}
