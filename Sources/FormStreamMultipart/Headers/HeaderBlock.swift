import FormStreamPlatform

/// Writes the header block of a part: Content-Disposition, Content-Type, extra headers.
enum HeaderBlock {
  /// RFC 7578 §4.2: "Each part MUST contain a Content-Disposition header field … where the
  /// disposition type is "form-data" … MUST also contain an additional parameter of "name"".
  static func append(
    _ part: Part, type: MediaType?, in form: Form, to bytes: inout [UInt8]
  ) throws(MultipartError) {
    let (start, escaping) = (bytes.count, form.escaping)
    let hasName = form.type.isFormData || !part.name.isEmpty
    // RFC 2183 §2.2: a part that is not a field of form data is an attachment. curl also writes the name of an
    // attachment.
    var disposition = Array((form.type.isFormData ? "form-data" : "attachment").utf8)
    if hasName {
      disposition.append(contentsOf: "; name=".utf8)
      do {
        try escaping.appendName(part.name, to: &disposition)
      } catch {
        throw MultipartError(
          .invalidName, on: part.name,
          "The name \(part.name.quoted) contains \(error.description), which the escaping profile \"\(escaping)\" "
            + "can't write: remove it, or choose another profile.")
      }
    }
    if let filename = part.filename {
      disposition.append(contentsOf: "; ".utf8)
      do {
        if let bytes = part.filenameBeyondUTF8 {
          try escaping.appendFilename(bytes, to: &disposition)
        } else {
          try escaping.appendFilename(filename.utf8, to: &disposition)
        }
      } catch {
        throw MultipartError(
          .invalidFilename, on: filename,
          "The file name \(filename.quoted) contains \(error.description), which the escaping profile "
            + "\"\(escaping)\" can't write: choose another name (\(PartSetting.filename)) or another profile."
        )
      }
    }
    if hasName || part.filename != nil {
      appendLine("Content-Disposition", disposition, to: &bytes)
    }
    if let type { appendLine("Content-Type", type.description.utf8, to: &bytes) }
    for field in part.headers { appendLine(field.name, field.bytes, to: &bytes) }
    bytes.append(contentsOf: [0x0D, 0x0A])

    guard bytes.count - start <= Part.maximumHeaderBlockSize else {
      throw MultipartError(
        .headersTooLarge, on: part.name,
        "The headers of part \(part.name.quoted) have \(counted(bytes.count - start, "byte", "bytes")); at most "
          + "\(Part.maximumHeaderBlockSize) are allowed, and many receivers accept less. Shorten its name, file name or "
          + "extra headers."
      )
    }
  }

  private static func appendLine(
    _ name: String, _ value: some Collection<UInt8>, to bytes: inout [UInt8]
  ) {
    bytes.append(contentsOf: name.utf8)
    bytes.append(contentsOf: [UInt8(ascii: ":"), UInt8(ascii: " ")])
    bytes.append(contentsOf: value)
    bytes.append(contentsOf: [0x0D, 0x0A])
  }
}
