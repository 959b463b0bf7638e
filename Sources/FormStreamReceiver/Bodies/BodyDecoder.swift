import FormStreamMultipart

/// A body's bytes, taken for what its Content-Type says they are.
enum BodyDecoder {
  case form(FormParser)
  case fields(FieldReader)
  /// Anything else counts as one part.
  case raw

  /// - Throws: ``MultipartError`` where the type is a multipart type without a boundary, or with one that
  ///   can't be.
  init(
    contentType: String?, isPut: Bool, escaping: EscapingProfile?, limits: FormParser.Limits
  ) throws(MultipartError) {
    let type = contentType.map { String($0.prefix { $0 != ";" }).lowercased() } ?? ""
    let name = type.filter { $0 != " " && $0 != "\t" }
    if name.hasPrefix("multipart/") {
      var options = FormParser.Options()
      options.requiresNames = name == "multipart/form-data"
      options.escaping = escaping
      options.limits = limits
      self = .form(try FormParser(contentType: contentType ?? "", options: options))
    } else if name == "application/x-www-form-urlencoded", !isPut {
      // Some clients say so of whatever they are given; but what is put is a file.
      self = .fields(FieldReader(limits: limits))
    } else {
      self = .raw
    }
  }
}
