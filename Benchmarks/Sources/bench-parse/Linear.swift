import Measuring

/// Parses bodies made to be slow, in sizes that grow fourfold: in one piece, in pieces as large as the
/// library's own, and in pieces that cut a delimiter at each place. Pieces of a few bytes are slow in
/// themselves, so their bodies grow to a sixteenth of the size only.
func measureWorst(upTo limit: Int, rounds: Int) throws {
  var cases: [String] = []
  for body in WorstBody.all {
    try withRepeated(body.unit, count: limit) { bytes in
      let length = body.delimiterLength
      for piece in [limit, 64 * 1024, length + 1, length, length - 1, 2, 1] {
        let largest = piece > length + 1 ? limit : max(limit / 16, 4 << 20)
        let rates = try rates(
          of: body, bytes, piece: piece, upTo: largest, rounds: rounds)
        let sizes = rates.map { "\"\($0.size)\": \($0.rates)" }.joined(separator: ", ")
        cases.append(
          """
          {"what": "\(body.name)", "piece": \(piece == limit ? 0 : piece), \
          "bytes_per_second": {\(sizes)}}
          """)
      }
    }
  }
  print("[\(cases.joined(separator: ",\n"))]")
}

/// A long measurement is not repeated: it is an average already.
private let longEnough = 2.0

private func rates(
  of body: WorstBody, _ bytes: UnsafeRawBufferPointer, piece: Int, upTo limit: Int, rounds: Int
) throws -> [(size: Int, rates: [Double])] {
  var all = sequence(first: 1 << 20) { $0 * 4 }.prefix { $0 <= limit }.map {
    (size: $0, rates: [Double](), seconds: 0.0)
  }
  for _ in 0..<rounds {
    for index in all.indices where all[index].seconds < longEnough {
      let used = all[index].size / body.unit.count * body.unit.count
      let timing = try body.time(UnsafeRawBufferPointer(rebasing: bytes[..<used]), piece: piece)
      // Processor time, because other load on the machine delays only the long measurements.
      all[index].rates.append(Double(used) / timing.cpu)
      all[index].seconds += timing.cpu
    }
  }
  return all.map { ($0.size, $0.rates) }
}
