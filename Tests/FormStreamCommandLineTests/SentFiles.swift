import FormStreamTestSupport

/// A file that a server received in a form.
struct SentFile: Hashable {
  /// The file name as it was sent, escaped as browsers do it.
  let name: [UInt8]
  let contents: [UInt8]

  init(name: [UInt8], contents: [UInt8]) {
    (self.name, self.contents) = (name, contents)
  }

  init(_ name: String, _ contents: String) {
    self.init(name: Array(name.utf8), contents: Array(contents.utf8))
  }

  /// The last part of a request's form; nil if it is not a file.
  init?(lastPartOf request: RecordedRequest) {
    let body = request.body
    guard let boundary = body.firstIndex(of: 13).map({ Array(body[..<$0]) }),
      let start = body.lastRange(of: Array("; filename=\"".utf8)),
      let nameEnd = body[start.upperBound...].firstRange(of: Array("\"\r\n".utf8)),
      let head = body[start.upperBound...].firstRange(of: Array("\r\n\r\n".utf8)),
      body.suffix(boundary.count + 6) == [13, 10] + boundary + Array("--\r\n".utf8)
    else { return nil }
    self.init(
      name: Array(body[start.upperBound..<nameEnd.lowerBound]),
      contents: Array(body[head.upperBound..<(body.count - boundary.count - 6)]))
  }
}

extension Collection where Element == UInt8, Index == Int {
  /// The last place of some bytes.
  fileprivate func lastRange(of bytes: [UInt8]) -> Range<Int>? {
    guard count >= bytes.count else { return nil }
    for start in (startIndex...endIndex - bytes.count).reversed()
    where self[start..<start + bytes.count].elementsEqual(bytes) {
      return start..<start + bytes.count
    }
    return nil
  }

  /// The first place of some bytes.
  fileprivate func firstRange(of bytes: [UInt8]) -> Range<Int>? {
    guard count >= bytes.count else { return nil }
    for start in startIndex...endIndex - bytes.count
    where self[start..<start + bytes.count].elementsEqual(bytes) {
      return start..<start + bytes.count
    }
    return nil
  }
}

extension ScriptedServer {
  /// The files that arrived completely, in any order.
  var sentFiles: [SentFile] {
    requests.filter(\.hasCompleteBody).compactMap(SentFile.init(lastPartOf:))
  }
}
