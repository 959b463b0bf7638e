import FormStreamPlatform

extension ResultRecord {
  /// The answer to a request.
  package struct Response: Hashable, Sendable {
    /// All of its headers, in their order. What is not UTF-8 in them is repaired, and the bytes are lost:
    /// there is no second key for them.
    package var headers: [RecordHeader]
    /// What was kept of its body; none where it was not to be kept, as where it went into a file.
    package var body: [UInt8]?
    /// Whether the body had more than was kept. Text that was cut inside of a character is no UTF-8 any
    /// more, and stands in base 64.
    package var isTruncated: Bool

    package init(headers: [RecordHeader], body: [UInt8]?, isTruncated: Bool) {
      self.headers = headers
      self.body = body
      self.isTruncated = isTruncated
    }

    package var json: JSONValue {
      let body = JSONValue.textOrBase64(body)
      return [
        "headers": .array(headers.map(\.json)),
        "body": body.text,
        "body_b64": body.base64,
        "truncated": .boolean(isTruncated),
      ]
    }
  }
}
