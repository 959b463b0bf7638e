/// The progress of an upload or a download: `formstream.progress/2`, one line per report.
///
/// The bytes are those of the body. Headers and the framing of chunks are not counted.
package struct ProgressRecord: Hashable, Sendable {
  /// The progress of one part of a form.
  package struct Part: Hashable, Sendable {
    /// The part's name.
    package var name: String
    /// How many bytes of its body were handed over. Nil if it is unknown, because a part of unknown length comes
    /// before this one.
    package var sent: Int64?
    /// The number of bytes in its body, if known.
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

  /// What the upload is doing.
  package var phase: String
  /// How many bytes were read from their sources.
  package var read: Int64
  /// How many bytes were handed over to the kernel.
  package var handed: Int64
  /// How many bytes the peer's TCP acknowledged, if known.
  package var acknowledged: Int64?
  /// How many bytes there are, if known.
  package var total: Int64?
  /// How many bytes of the response's body arrived.
  package var received: Int64
  /// How many bytes the response's body has, if known.
  package var responseTotal: Int64?
  /// The parts of the form in their order.
  package var parts: [Part]
  /// How many files are done.
  package var filesDone: Int
  /// How many files there are, if known: files may be sent before all are found.
  package var filesTotal: Int?
  /// How many bytes are sent per second.
  package var rate: Double
  /// How many seconds are left, if known.
  package var eta: Double?

  package init(
    phase: String, read: Int64, handed: Int64, acknowledged: Int64?, total: Int64?,
    received: Int64, responseTotal: Int64?, parts: [Part], filesDone: Int, filesTotal: Int?,
    rate: Double, eta: Double?
  ) {
    self.phase = phase
    self.read = read
    self.handed = handed
    self.acknowledged = acknowledged
    self.total = total
    self.received = received
    self.responseTotal = responseTotal
    self.parts = parts
    self.filesDone = filesDone
    self.filesTotal = filesTotal
    self.rate = rate
    self.eta = eta
  }

  package var json: JSONValue {
    [
      "schema": "formstream.progress/2",
      "phase": .string(phase),
      "read": .integer(read),
      "handed": .integer(handed),
      "acknowledged": .integer(orNull: acknowledged),
      "total": .integer(orNull: total),
      "received": .integer(received),
      "response_total": .integer(orNull: responseTotal),
      "parts": .array(parts.map(\.json)),
      "files_done": .integer(Int64(filesDone)),
      "files_total": .integer(orNull: filesTotal.map(Int64.init)),
      "rate": .integer(rounding: rate),
      "eta": .fraction(rounding: eta),
    ]
  }
}
