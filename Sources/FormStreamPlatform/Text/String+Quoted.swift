extension String {
  /// This text in quotes for a message, shortened if it is longer than 80 bytes. Characters that can't be displayed are
  /// shown as escapes, such as `\u{D}`: the text may be from outside, and messages get into logs.
  package var quoted: String {
    let longest = 80
    let head = self.utf8.prefix(longest + 1)
    if head.count <= longest { return "\"\(displayed)\"" }
    let start = String(decoding: head.prefix(longest), as: UTF8.self)
    return "\"\(start.displayed)…\" (\(counted(utf8.count, "byte", "bytes")))"
  }

  /// This text, with an escape in place of each scalar that can't be displayed.
  package var displayed: String {
    guard unicodeScalars.contains(where: { !$0.isSafeToDisplay }) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      text += scalar.isSafeToDisplay ? String(scalar) : scalar.escaped
    }
  }
}
