import FormStreamBatch
import FormStreamMultipart
import FormStreamHTTP

extension LowArguments {
  /// The values of parts in which values of the file may stand, by the indices of the parts.
  func fieldTemplates(_ packing: Packing) throws(Failure) -> [Int: FileTemplate] {
    let remedy =
      packing.isShared
      ? "A request has several files, and --filename can have values of each" : "--field is literal"
    var templates: [Int: FileTemplate] = [:]
    for (index, part) in parts.enumerated() where part.spelling != "--field" {
      guard case .value(let value) = part.content else { continue }
      templates[index] = try value.template(
        for: part.spelling, of: sending.fieldValues(packing), remedy: remedy)
    }
    return templates
  }

  /// The URLs of `send --put`.
  func urlTemplate(notes: inout [String]) throws(Failure) -> URLTemplate {
    if let part = parts.first {
      throw .usage(
        "\(part.spelling) makes a part of a form, and --put sends files as they are: leave one out."
      )
    }
    if sending.fieldName != nil || sending.filename != nil {
      throw .usage(
        "--as and --filename are for forms, and --put sends files as they are: leave them out.")
    }
    let text: String
    if let file = request.urlFile {
      let secrets = try secretFile(file, for: "--url-file")
      notes += secrets.warnings
      text = String(decoding: try secrets.onlyLine(), as: UTF8.self)
    } else if let operand = operands.first {
      guard !operand.bytes.isEmpty else { throw URLArgument.empty }
      try checkOrder(of: operand)
      text = try operand.text(for: "the URL")
    } else {
      throw .usage(
        "Name the URL to put files to: formstream send --put https://example.org/path/ FILE...")
    }
    let query = try query()
    let template = try convertingErrors { () throws(BatchError) in
      try URLTemplate(text, query: query, isSecret: request.urlFile != nil)
    }
    try checkLeftOut(inRequestsTo: template.base)
    return template
  }
}

extension Argument {
  /// The argument as a template.
  func template(
    for flag: String, of values: [FileTemplate.Value], remedy: String? = nil
  ) throws(Failure) -> FileTemplate {
    do throws(BatchError) {
      return try FileTemplate(bytes, of: values)
    } catch {
      throw .usage(
        "\(named(flag)): \(error.description)" + (remedy.map { " (\($0).)" } ?? ""))
    }
  }
}
