/// Properties of the library that must hold for any input: one for each target of the fuzzer.
public enum Property: String, CaseIterable, Sendable {
  /// The result of parsing a body does not depend on how it is divided, and respects the limits.
  case parser
  /// A `Content-Disposition` that is read and written again is read the same, in linear time.
  case disposition
  /// The same for a `Content-Type`.
  case contentType = "content-type"
  /// An encoded form is parsed to the same parts, or is refused when it is laid out.
  case roundTrip = "round-trip"
  /// The events of a response don't depend on how it is divided; what is accepted can be written again, and nothing after the end
  /// belongs to the response.
  case response

  /// Checks the property for the input that the bytes choose.
  ///
  /// - Throws: ``PropertyBroken`` if the property does not hold.
  public func check(_ input: [UInt8]) throws {
    var choices = Choices(input)
    switch self {
    case .parser: try checkParser(&choices)
    case .disposition: try checkDisposition(&choices)
    case .contentType: try checkContentType(&choices)
    case .roundTrip: try checkRoundTrip(&choices)
    case .response: try checkResponse(&choices)
    }
  }

  /// One run of the fuzzer. It traps if the property does not hold.
  public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
      try check(Array(UnsafeBufferPointer(start: start, count: count)))
      return 0
    } catch {
      fatalError("The property \"\(rawValue)\" does not hold: \(error)")
    }
  }
}

/// A property that did not hold.
public struct PropertyBroken: Error, CustomStringConvertible {
  /// What was expected and what was found.
  public let description: String
}

func hold(
  _ condition: Bool, _ what: @autoclosure () -> String
) throws(PropertyBroken) {
  guard condition else { throw PropertyBroken(description: what()) }
}

extension Optional where Wrapped == String {
  /// The bytes to compare: Swift may regard texts of different bytes as equal.
  var bytes: [UInt8]? { map { Array($0.utf8) } }
}
