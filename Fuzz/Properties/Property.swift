/// What must hold of the library whatever bytes come: one property for each target of the fuzzer.
public enum Property: String, CaseIterable, Sendable {
  /// A body is read alike however it is cut, and within its limits.
  case parser
  /// A `Content-Disposition` is read the same when it is written again, and in linear time.
  case disposition
  /// So is a `Content-Type`.
  case contentType = "content-type"
  /// What is encoded is read back, or was refused when it was laid out.
  case roundTrip = "round-trip"

  /// Tries the property with what the bytes choose.
  ///
  /// - Throws: where it does not hold, a ``PropertyBroken``.
  public func check(_ input: [UInt8]) throws {
    var choices = Choices(input)
    switch self {
    case .parser: try checkParser(&choices)
    case .disposition: try checkDisposition(&choices)
    case .contentType: try checkContentType(&choices)
    case .roundTrip: try checkRoundTrip(&choices)
    }
  }

  /// One run of the fuzzer, which takes a trap for a find.
  public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
      try check(Array(UnsafeBufferPointer(start: start, count: count)))
      return 0
    } catch {
      fatalError("The property \"\(rawValue)\" does not hold: \(error)")
    }
  }
}

/// What did not hold.
public struct PropertyBroken: Error, CustomStringConvertible {
  /// In words, with what was seen.
  public let description: String
}

func hold(
  _ condition: Bool, _ what: @autoclosure () -> String
) throws(PropertyBroken) {
  guard condition else { throw PropertyBroken(description: what()) }
}

extension Optional where Wrapped == String {
  /// For comparing: two texts of other bytes may be the same text to Swift.
  var bytes: [UInt8]? { map { Array($0.utf8) } }
}
