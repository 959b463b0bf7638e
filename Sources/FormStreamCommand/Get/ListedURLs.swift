import FormStreamBatch

/// Reads the URLs of lists one by one, because a list may be endless.
struct ListedURLs {
  private var lists: ArraySlice<PathList>
  private var reader: PathListReader?
  private var name = ""
  /// The URL that is read already, and comes next.
  private var first: Argument?

  init(_ lists: [PathList]) {
    self.lists = lists[...]
  }

  /// The next URL, without removing it; nil after the last.
  mutating func peek() throws(Failure) -> Argument? {
    if first == nil { first = try read() }
    return first
  }

  /// The next URL; nil after the last.
  mutating func next() throws(Failure) -> Argument? {
    if let url = first {
      first = nil
      return url
    }
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
