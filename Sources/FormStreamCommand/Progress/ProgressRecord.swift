import FormStreamJSON

/// Makes the record of a state: `formstream.progress/2`, one line per report.
///
/// Only the bytes of the body are counted, without headers and the framing of chunks.
///
/// - Parameters:
///   - read: how many bytes were read from their sources.
///   - handed: how many bytes were handed over to the kernel.
///   - acknowledged: how many bytes the peer's TCP acknowledged, if known.
///   - total: how many bytes there are, if known.
///   - received: how many bytes of the response's body arrived.
///   - responseTotal: how many bytes the response's body has, if known.
///   - parts: the parts of the form in their order. After a part of unknown length, the number of bytes handed over is
///     unknown for each part.
///   - filesTotal: how many files there are, if known: files may be sent before all are found.
///   - rate: how many bytes are sent per second.
///   - left: the time that is left, if known.
func progressRecord(
  phase: String, read: Int64, handed: Int64, acknowledged: Int64?, total: Int64?,
  received: Int64 = 0, responseTotal: Int64? = nil,
  parts: [(name: String, sent: Int64?, size: Int64?)], filesDone: Int, filesTotal: Int?,
  rate: Double?, left: Duration?
) -> JSONValue {
  [
    "schema": "formstream.progress/2",
    "phase": .string(phase),
    "read": .integer(read),
    "handed": .integer(handed),
    "acknowledged": .integer(orNull: acknowledged),
    "total": .integer(orNull: total),
    "received": .integer(received),
    "response_total": .integer(orNull: responseTotal),
    "parts": .array(
      parts.map { part in
        [
          "name": .string(part.name), "sent": .integer(orNull: part.sent),
          "size": .integer(orNull: part.size),
        ]
      }),
    "files_done": .integer(Int64(filesDone)),
    "files_total": .integer(orNull: filesTotal.map(Int64.init)),
    "rate": .integer(rounding: rate),
    "eta": .fraction(rounding: left.map { $0 / .seconds(1) }),
  ]
}
