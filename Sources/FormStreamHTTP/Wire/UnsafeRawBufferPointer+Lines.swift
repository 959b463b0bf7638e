extension UnsafeRawBufferPointer {
  /// Passes on each line with its line break, until `receive` returns false; returns the last result.
  ///
  /// libcurl passes header lines one by one, but lines that it has read during a pause come joined. A head of ours comes at once.
  func eachLine(_ receive: (UnsafeRawBufferPointer) -> Bool) -> Bool {
    var rest = self
    repeat {
      let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.count
      guard receive(UnsafeRawBufferPointer(rebasing: rest[..<end])) else { return false }
      rest = UnsafeRawBufferPointer(rebasing: rest[end...])
    } while !rest.isEmpty
    return true
  }
}
