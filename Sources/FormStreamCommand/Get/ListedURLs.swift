import FormStreamBatch

/// Reads the URLs of lists one by one, because a list may be endless.
struct ListedURLs {
  private var lists: ArraySlice<PathList>
  private var reader: PathListReader?
  private var name = ""
  /// The lines that are read already, and come next.
  private var peeked: ArraySlice<Argument> = []
  private static let maximumPeeked = 1000

  init(_ lists: [PathList]) {
    self.lists = lists[...]
  }

  /// A line that was not looked at before, without removing it; nil after the last, or if so many were looked at that they would
  /// take too much memory.
  mutating func peek() throws(Failure) -> Argument? {
    guard peeked.count < Self.maximumPeeked, let line = try read() else { return nil }
    peeked.append(line)
    return line
  }

  /// The next URL; nil after the last.
  mutating func next() throws(Failure) -> Argument? {
    if let url = peeked.popFirst() { return url }
    return try read()
  }

  private mutating func read() throws(Failure) -> Argument? {
    while true {
      if let reader {
        let line = try convertingErrors { () throws(BatchError) in try reader.next() }
        if let line {
          return Argument(bytes: line.bytes, place: .line(reader.lineNumber, of: name))
        }
      }
      guard let list = lists.popFirst() else { return nil }
      reader = try list.reader()
      name = list.file.isDash ? "standard input" : list.file.shown
    }
  }
}
