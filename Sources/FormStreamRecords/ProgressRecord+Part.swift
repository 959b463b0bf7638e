extension ProgressRecord {
  /// How far one part of a form has come.
  package struct Part: Hashable, Sendable {
    /// The part's name.
    package var name: String
    /// How many bytes of its body were handed over; nil behind a part of unknown length, where that can't
    /// be told.
    package var sent: Int64?
    /// How many bytes its body has, where that is known.
    package var size: Int64?

    package init(name: String, sent: Int64?, size: Int64?) {
      self.name = name
      self.sent = sent
      self.size = size
    }

    package var json: JSONValue {
      ["name": .string(name), "sent": .integer(orNull: sent), "size": .integer(orNull: size)]
    }
  }
}
