package import FormStreamJSON

extension FailureList.Failure {
  /// The record: `formstream.failure/1`.
  package var record: JSONValue {
    let path = JSONValue.path(path)
    return [
      "schema": "formstream.failure/1",
      "path": path.text,
      "path_b64": path.base64,
      "outcome": .string(state?.rawValue ?? "missing"),
      "status": .integer(orNull: status),
      "text": .string(text),
    ]
  }
}
