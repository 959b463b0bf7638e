import FormStreamMultipart

/// The input: 3 bytes for a repetition (see ``Choices/restOrStretch()``), then the value of the
/// header.
func checkContentType(_ choices: inout Choices) throws {
  let (bytes, isStretched) = choices.restOrStretch()
  let text = String(decoding: bytes, as: UTF8.self)
  Planted.linger(text)
  guard !isStretched else {
    _ = FormParser.boundary(inContentType: text)
    return
  }
  try checkBoundary(in: text)
  try checkMediaType(text)
  // The same text as a boundary, if it is valid.
  if let boundary = try? Boundary(text) {
    let type = Form(boundary: boundary).contentType
    let read = FormParser.boundary(inContentType: type)
    try hold(read == text, "\(type) was read as \(String(describing: read))")
  }
}

private func checkBoundary(in text: String) throws {
  let boundary = FormParser.boundary(inContentType: text)
  try hold(boundary?.isEmpty != true, "an empty boundary")
  do {
    _ = try FormParser(contentType: text)
    try hold(boundary != nil, "a parser without a boundary")
  } catch let error as MultipartError {
    try hold(error.code == .invalidBoundary, "\(error)")
    if let boundary {
      let isFit = (1...Boundary.maximumLength).contains(boundary.utf8.count)
      let hasBreak = boundary.utf8.contains { $0 == 0x0A || $0 == 0x0D }
      try hold(!isFit || hasBreak, "\(boundary.debugDescription) was refused: \(error)")
    }
  }
  guard let boundary else { return }
  // Folded at its blanks, it has the same meaning.
  let folded = text.replacing(" ", with: "\r\n ")
  let again = FormParser.boundary(inContentType: folded)
  let isSame = again.map { $0.utf8.filter { $0 != 0x20 } } == boundary.utf8.filter { $0 != 0x20 }
  try hold(isSame, "\(boundary.debugDescription) when folded is \(String(describing: again))")
}

private func checkMediaType(_ text: String) throws {
  guard let type = MediaType(text) else { return }
  try hold(Array(type.description.utf8) == Array(text.utf8), "\(type) is not \(text)")
  try hold(text.utf8.count <= MediaType.maximumLength, "\(text.utf8.count) bytes")
  let allowed = text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
  try hold(allowed, "a control character in \(text.debugDescription)")
  let essence = MediaType(type.essence)
  try hold(
    essence?.essence == type.essence && type.essence == type.essence.lowercased(),
    "the essence of \(text) is \(type.essence)")
}
