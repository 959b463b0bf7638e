/// A header line as it stands in records: `[name,value]`. A list of them keeps order and repetition,
/// which an object would lose.
package struct RecordHeader: Hashable, Sendable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  package var json: JSONValue { [.string(name), .string(value)] }
}
