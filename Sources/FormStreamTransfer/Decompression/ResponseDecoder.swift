import FormStreamMultipart
import FormStreamPlatform

/// Decodes the body of one response. It is used by one thread at a time.
///
/// RFC 9110 §8.4.1.3: the coding is "gzip", and "a recipient SHOULD consider "x-gzip" to be equivalent". RFC 1952 §2.2: "A
/// gzip file consists of a series of "members"". Nothing else may follow them.
final class ResponseDecoder: @unchecked Sendable {
  /// How many bytes are decoded at once.
  private static let pieceSize = 64 * 1024

  /// Why a body can't be decoded. It is not a failure of the response's target.
  struct Failure: Error {
    let error: TransferError
  }

  private enum Place {
    case beforeFirstMember
    case inMember
    case afterMember
  }

  private let url: HTTPURL
  private let limit: Int64
  private let inflater: Inflater
  private let room: UnsafeMutableRawBufferPointer
  private var place = Place.beforeFirstMember
  private var decoded: Int64 = 0

  /// Returns nil if the body is not coded.
  init?(
    _ decompression: Decompression?, _ headers: HTTPHeaders, from url: HTTPURL
  ) throws(Failure) {
    guard let decompression else { return nil }
    let codings = headers.fields.filter { $0.name.isSameHeaderName(as: "Content-Encoding") }
      .flatMap { $0.value.split { $0 == "," || $0 == " " || $0 == "\t" } }
      .map { $0.lowercased() }.filter { $0 != "identity" }
    guard let coding = codings.first else { return nil }
    guard codings.count == 1, coding == "gzip" || coding == "x-gzip" else {
      throw Self.failure(
        url,
        "is coded as \(codings.joined(separator: ", ").quoted), and only gzip was asked for")
    }
    do throws(Inflater.Failure) {
      inflater = try Inflater()
    } catch {
      throw Self.failure(url, "could not be decompressed: \(error.reason)")
    }
    self.url = url
    limit = decompression.limit
    // Last, because nothing would free it if this failed.
    room = .allocate(byteCount: Self.pieceSize, alignment: 1)
  }

  deinit { room.deallocate() }

  /// Decodes the next piece.
  ///
  /// - Parameter coded: loses the bytes that were decoded.
  /// - Returns: the piece, which is valid until the next call; nil if all was decoded.
  func next(
    _ coded: inout UnsafeRawBufferPointer
  ) throws(Failure) -> UnsafeRawBufferPointer? {
    var rest = room
    while !rest.isEmpty {
      if place != .inMember {
        guard let first = coded.first else { break }
        // RFC 1952 §2.3.1: each member begins with 31.
        guard place == .beforeFirstMember || first == 31 else {
          throw Self.failure(url, "has bytes after its compressed data")
        }
        if place == .afterMember { inflater.restart() }
        place = .inMember
      }
      let before = (coded.count, rest.count)
      do throws(Inflater.Failure) {
        if try inflater.decode(&coded, into: &rest) == .atEnd { place = .afterMember }
      } catch {
        throw Self.failure(url, "can't be decompressed: \(error.reason)")
      }
      if place == .inMember, before == (coded.count, rest.count) { break }
    }
    let count = room.count - rest.count
    guard Int64(count) <= limit - decoded else {
      throw Failure(
        error: TransferError(
          .responseTooLarge, on: url.description,
          "The response from \(url) has more than \(limit) bytes after decompression: raise "
            + "\(SettingName.decompressionLimit) if that is expected."))
    }
    decoded += Int64(count)
    return count > 0 ? UnsafeRawBufferPointer(rebasing: room[..<count]) : nil
  }

  /// Checks that nothing is missing at the end. A body without a byte is accepted: servers that have nothing to send name
  /// the coding nevertheless.
  func checkEnd() throws(Failure) {
    guard place == .inMember else { return }
    throw Self.failure(url, "ends before its compressed data does")
  }

  private static func failure(_ url: HTTPURL, _ what: String) -> Failure {
    Failure(
      error: TransferError(
        .decompressionFailed, on: url.description,
        "The response from \(url) \(what). Ask for it without compression."))
  }
}
