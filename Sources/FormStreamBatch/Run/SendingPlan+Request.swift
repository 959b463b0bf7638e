import FormStreamDigest
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamTransfer

extension SendingPlan {
  /// The request that brings a file. Its body is laid out here, so that the file is measured once.
  ///
  /// - Throws: a `BatchError` or `MultipartError` that says why there is none for the file.
  func request(for opened: OpenedBatchFile) throws -> TransferRequest {
    var request = request
    if let urls {
      request.url = try urls.url(for: opened)
      request.body = .layout(try opened.pinned.body().layout(as: opened.type.type))
    } else {
      let form = form(for: opened)
      request.body = .layout(try form.layout(guessing: sniffer, verify: verifiesBoundary))
    }
    if sendsIdempotencyKeys {
      let file = opened.file
      let place = hasManifest ? file.offset : Int64(file.index)
      request.options.idempotencyKey = IdempotencyKey(
        try UUIDText.named("\(id) \(place) \(file.size) \(file.modified)"))
    }
    request.options.retry.attempts = 1
    request.options.responseTarget = .memory(
      limit: check == nil ? 4096 : ResponseCheck.maximumResponse)
    return request
  }

  private func form(for opened: OpenedBatchFile) -> Form {
    var form = form
    if !isBoundaryGiven { form.boundary = .random() }
    for (index, template) in fieldTemplates {
      let value = template.expanded(for: opened)
      form.parts[index].body =
        String(validating: value, as: UTF8.self).map(PartBody.text) ?? .bytes(value)
    }
    for field in opened.file.fields { form.append(.text(field.name, field.value)) }
    var part = Part(name: fieldName, type: opened.type.type, body: opened.pinned.body())
    part.filenameBytes =
      filename?.expanded(for: opened) ?? opened.file.path.lastComponentBytes
    form.append(part)
    return form
  }
}
