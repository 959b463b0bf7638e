/// How far an upload has come: `formstream.progress/1`, one line each time that it is told.
///
/// Bytes are the body's: neither headers nor the framing of chunks count.
package struct ProgressRecord: Hashable, Sendable {
  /// What is going on.
  package var phase: String
  /// How many bytes were read from their sources.
  package var read: Int64
  /// How many bytes were handed to the system's kernel.
  package var handed: Int64
  /// How many bytes the other side's TCP has acknowledged, where that can be known.
  package var acknowledged: Int64?
  /// How many bytes there are, where that is known.
  package var total: Int64?
  /// The parts of the form, in their order.
  package var parts: [Part]
  /// How many files are done.
  package var filesDone: Int
  /// How many files there are, where that is known: files are sent while more are still looked for.
  package var filesTotal: Int?
  /// How many bytes a second go out.
  package var rate: Double
  /// How many seconds are left, where that can be told.
  package var eta: Double?

  package init(
    phase: String, read: Int64, handed: Int64, acknowledged: Int64?, total: Int64?, parts: [Part],
    filesDone: Int, filesTotal: Int?, rate: Double, eta: Double?
  ) {
    self.phase = phase
    self.read = read
    self.handed = handed
    self.acknowledged = acknowledged
    self.total = total
    self.parts = parts
    self.filesDone = filesDone
    self.filesTotal = filesTotal
    self.rate = rate
    self.eta = eta
  }

  package var json: JSONValue {
    [
      "schema": "formstream.progress/1",
      "phase": .string(phase),
      "read": .integer(read),
      "handed": .integer(handed),
      "acknowledged": .integer(orNull: acknowledged),
      "total": .integer(orNull: total),
      "parts": .array(parts.map(\.json)),
      "files_done": .integer(Int64(filesDone)),
      "files_total": .integer(orNull: filesTotal.map(Int64.init)),
      "rate": .integer(rounding: rate),
      "eta": .fraction(rounding: eta),
    ]
  }
}
