import FormStreamDigest
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamHTTP

extension Batch {
  /// The request for files or for a slice. Its body is laid out here, so that the files are measured only once.
  ///
  /// - Parameter boundary: the boundary of an earlier request that this one continues; nil if it continues none.
  /// - Throws: a `BatchError` or `MultipartError` that says why the request can't be made.
  func request(
    for files: [OpenedBatchFile], _ slice: FileSlice? = nil, boundary: String? = nil
  ) throws -> TransferRequest {
    var request = request
    if let urls, let file = files.first {
      request.url = try urls.url(for: file)
      request.body = .layout(try file.body().layout(as: file.type.type))
    } else {
      var form = form(for: files, slice)
      if let boundary { form.boundary = try Boundary(boundary) }
      request.body = .layout(try form.layout(detector: sniffer, verify: verifiesBoundary))
    }
    if sendsIdempotencyKeys {
      request.options.idempotencyKey = IdempotencyKey(try keyText(for: files, slice))
    }
    request.options.retry.attempts = 1
    request.options.retry.patience = retry.patience
    request.options.responseTarget = .truncated(at: maximumResponse(files: files.count))
    return request
  }

  /// The text of the idempotency key. It depends on the manifest's id and on the place, size and time of each file. If an
  /// earlier round may have sent a file with a key, the file keeps the key. For a
  /// slice, it also depends on the slice and on the file's change time, because a slice of a changed file is another
  /// request.
  private func keyText(for files: [OpenedBatchFile], _ slice: FileSlice?) throws -> String {
    var name = files.first?.file.keyRecord?.manifest ?? id
    for opened in files {
      let file = opened.file
      let place = file.keyRecord?.offset ?? (hasManifest ? file.offset : Int64(file.index))
      name += " \(place) \(file.size) \(file.modified)"
    }
    if let slice, let file = files.first {
      name += " \(slice.offset) \(slice.size) \(file.identity.changedNanoseconds)"
    }
    return try UUIDText.named(name)
  }

  private func form(for files: [OpenedBatchFile], _ slice: FileSlice?) -> Form {
    var form = form
    if !isBoundaryGiven { form.boundary = .random() }
    if let file = files.first {
      // These templates are used only if the request has a single file, so the first file is the only file.
      for (index, template) in fieldTemplates {
        let value = template.expanded(for: file, slice: slice)
        form.parts[index].body =
          String(validating: value, as: UTF8.self).map(PartBody.text) ?? .bytes(value)
      }
      for field in file.file.fields { form.append(.text(field.name, field.value)) }
    }
    for (place, file) in files.enumerated() {
      let name = fieldName.expanded(for: file, at: place, slice: slice)
      var part = Part(
        name: String(decoding: name, as: UTF8.self), type: file.type.type, body: file.body(slice))
      part.filenameBytes =
        filename?.expanded(for: file, at: place, slice: slice) ?? file.file.path.lastComponentBytes
      form.append(part)
    }
    return form
  }
}
