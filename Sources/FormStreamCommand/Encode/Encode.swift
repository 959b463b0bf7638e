import FormStreamMultipart

/// Runs `encode`. The output is opened first: if that fails, nothing is read.
func encode(_ plan: EncodePlan) throws(Failure) {
  if !plan.isQuiet {
    for note in plan.notes { StandardError.note(note) }
    warn(of: plan.sniffer)
  }
  let output = try OutputFile(plan.target)
  let layout = try convertingErrors { () throws(MultipartError) in
    try plan.form.form.layout(detector: plan.detector, verify: plan.form.verifiesBoundary)
  }
  switch plan.product {
  case .body: try writeBody(of: layout, to: output)
  case .headers: try writeHeaders(of: layout, to: output, isQuiet: plan.isQuiet)
  case .outline: try output.write(BodyOutline(of: layout, origins: plan.form.origins).text)
  }
  try output.commit()
  // A body can be read only with its boundary, and nothing else prints the boundary.
  if case .body = plan.product, !plan.isQuiet {
    StandardError.write("Content-Type: \(layout.contentType)")
  }
}

private func writeBody(of layout: BodyLayout, to output: OutputFile) throws(Failure) {
  let reader = layout.makeReader()
  defer { reader.close() }
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 4096)
  defer { buffer.deallocate() }
  while true {
    let count = try convertingErrors { () throws(MultipartError) in try reader.read(into: buffer) }
    if count == 0 { return }
    try output.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
  }
}

private func writeHeaders(
  of layout: BodyLayout, to output: OutputFile, isQuiet: Bool
) throws(Failure) {
  try output.write("Content-Type: \(layout.contentType)\n")
  if let length = layout.contentLength {
    try output.write("Content-Length: \(length)\n")
  } else if !isQuiet {
    StandardError.note(
      "There is no Content-Length: a part is a stream, and the length of a stream is not known.")
  }
}
