import FormStreamMultipart

/// Carries out `encode`: the output is opened first, so that nothing is read in vain.
func encode(_ plan: EncodePlan) throws(Failure) {
  for note in plan.notes { StandardError.write("formstream: \(note)") }
  warn(of: plan.sniffer)
  let output = try OutputFile(plan.target)
  let layout = try explaining { () throws(MultipartError) in
    try plan.form.form.layout(guessing: plan.guesser, verify: plan.verifiesBoundary)
  }
  switch plan.product {
  case .body: try writeBody(of: layout, to: output)
  case .headers: try writeHeaders(of: layout, to: output)
  case .skeleton: try output.write(Skeleton(of: layout, origins: plan.form.origins).text)
  }
  try output.commit()
}

private func writeBody(of layout: BodyLayout, to output: OutputFile) throws(Failure) {
  let reader = layout.makeReader()
  defer { reader.close() }
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 4096)
  defer { buffer.deallocate() }
  while true {
    let count = try explaining { () throws(MultipartError) in try reader.read(into: buffer) }
    if count == 0 { return }
    try output.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
  }
}

private func writeHeaders(of layout: BodyLayout, to output: OutputFile) throws(Failure) {
  try output.write("Content-Type: \(layout.contentType)\n")
  if let length = layout.contentLength {
    try output.write("Content-Length: \(length)\n")
  } else {
    StandardError.write(
      "formstream: There is no Content-Length: a part is a stream, whose length can't be known.")
  }
}
