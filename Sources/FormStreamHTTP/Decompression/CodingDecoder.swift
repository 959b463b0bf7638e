import FormStreamMultipart
import FormStreamPlatform

/// Decodes one coding of the body of a response. It is used by one thread at a time.
///
/// RFC 9110 §8.4.1.3: the coding is "gzip", and "a recipient SHOULD consider "x-gzip" to be equivalent". RFC 1952 §2.2: "A gzip
/// file consists of a series of "members"". Nothing else may follow the members. RFC 9110 §8.4.1.2: "deflate" is zlib's format,
/// and "some non-conformant implementations send the "deflate" compressed data without the zlib wrapper".
final class CodingDecoder: @unchecked Sendable {
  /// How many bytes are decoded at once.
  private static let pieceSize = 64 * 1024

  typealias Failure = ResponseDecoder.Failure

  enum Coding { case gzip, deflate }

  private enum Place {
    case beforeFirstMember
    case inMember
    case afterMember
  }

  private let url: HTTPURL
  private let limit: Int64
  private let coding: Coding
  /// Nil before the format of the data is known.
  private var inflater: Inflater?
  /// The first two bytes of a deflate body. They show the body's format, and are kept here until that format's inflater has
  /// decoded them.
  private let begun: UnsafeMutableRawBufferPointer
  private var begunCount = 0
  private let room: UnsafeMutableRawBufferPointer
  private var place = Place.beforeFirstMember
  private var decoded: Int64 = 0

  init(_ coding: Coding, limit: Int64, from url: HTTPURL) {
    (self.coding, self.limit, self.url) = (coding, limit, url)
    begun = .allocate(byteCount: 2, alignment: 1)
    room = .allocate(byteCount: Self.pieceSize, alignment: 1)
  }

  deinit {
    begun.deallocate()
    room.deallocate()
  }

  private func makeInflater(_ format: Inflater.Format) throws(Failure) -> Inflater {
    do throws(Inflater.Failure) {
      let inflater = try Inflater(format)
      self.inflater = inflater
      return inflater
    } catch {
      throw Failure(error: .decompressionNotBegun(url, error.reason))
    }
  }

  /// Decodes as many bytes as there is room for, as soon as the format of the bytes is known.
  private func decode(
    _ coded: inout UnsafeRawBufferPointer, into rest: inout UnsafeMutableRawBufferPointer
  ) throws(Failure) -> Inflater.Progress {
    if inflater == nil, coding == .deflate {
      while begunCount < begun.count, let first = coded.first {
        begun[begunCount] = first
        begunCount += 1
        coded = UnsafeRawBufferPointer(rebasing: coded.dropFirst())
      }
      // No compressed data is shorter than these two bytes.
      guard begunCount == begun.count else { return .within }
    }
    let inflater =
      if let inflater { inflater } else {
        try makeInflater(coding == .gzip ? .gzip : isInZlibFormat ? .zlib : .raw)
      }
    do throws(Inflater.Failure) {
      guard begunCount > 0 else { return try inflater.decode(&coded, into: &rest) }
      var first = UnsafeRawBufferPointer(rebasing: begun[(begun.count - begunCount)...])
      let progress = try inflater.decode(&first, into: &rest)
      begunCount = first.count
      return progress
    } catch {
      throw Failure(error: .compressedDataDamaged(url, error.reason))
    }
  }

  /// RFC 1950 §2.2: the method is 8, the window at most 7, and the two bytes are a multiple of 31. In data without the wrapper,
  /// such bytes at the beginning would set bits that are padding (RFC 1951 §3.2.4).
  private var isInZlibFormat: Bool {
    begun[0] & 0x0F == 8 && begun[0] >> 4 <= 7 && (Int(begun[0]) << 8 + Int(begun[1])) % 31 == 0
  }

  /// Decodes the next piece.
  ///
  /// - Parameter coded: the coded bytes; the bytes that were decoded are removed.
  /// - Returns: the piece, which is valid until the next call; nil if all coded bytes were decoded.
  func next(
    _ coded: inout UnsafeRawBufferPointer
  ) throws(Failure) -> UnsafeRawBufferPointer? {
    var rest = room
    while !rest.isEmpty {
      if place != .inMember {
        guard let first = coded.first else { break }
        guard place == .beforeFirstMember || coding == .gzip else { throw surplus }
        // RFC 1952 §2.3.1: each member begins with 31.
        guard place == .beforeFirstMember || first == 31 else {
          throw surplus
        }
        if place == .afterMember { inflater?.restart() }
        place = .inMember
      }
      let before = (coded.count, rest.count, begunCount)
      if try decode(&coded, into: &rest) == .atEnd { place = .afterMember }
      if place == .inMember, before == (coded.count, rest.count, begunCount) { break }
    }
    let count = room.count - rest.count
    guard Int64(count) <= limit - decoded else {
      throw Failure(error: .decodedResponseTooLarge(url, limit: limit))
    }
    decoded += Int64(count)
    return count > 0 ? UnsafeRawBufferPointer(rebasing: room[..<count]) : nil
  }

  /// Checks that nothing is missing at the end.
  func checkEnd(mayBeEmpty: Bool) throws(Failure) {
    switch place {
    case .afterMember: return
    case .beforeFirstMember: if !mayBeEmpty { throw Failure(error: .compressedDataMissing(url)) }
    case .inMember: throw Failure(error: .compressedDataCut(url))
    }
  }

  private var surplus: Failure {
    Failure(error: .compressedDataFollowed(url))
  }
}
