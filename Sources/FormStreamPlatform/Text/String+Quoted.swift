extension String {
  /// This text in quotes for a message, shortened if it is longer than 80 bytes.
  ///
  /// It is not made safe for a terminal: the code that writes to a terminal does that for all text.
  package var quoted: String {
    let longest = 80
    let head = self.utf8.prefix(longest + 1)
    if head.count <= longest { return "\"\(self)\"" }
    return "\"\(String(decoding: head.prefix(longest), as: UTF8.self))…\" (\(utf8.count) bytes)"
  }
}
