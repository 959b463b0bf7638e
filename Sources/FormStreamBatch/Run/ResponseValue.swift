import FormStreamJSON

/// What the server calls a file: a value in its JSON response, such as an id.
package enum ResponseValue: Hashable, Sendable {
  case found(String)
  /// There is no value. The reason is the end of a sentence.
  case missing(reason: String)

  /// - Parameter place: the file's place in the request.
  init(at path: ResponsePath, in response: JSONResponse, place: Int) {
    guard let json = response.value else {
      self = .missing(reason: JSONResponse.noValue)
      return
    }
    self =
      switch path.value(in: json, at: place) {
      case .string(""): .missing(reason: "the text at \(path.named(at: place)) of the response is empty")
      case .string(let text): .found(text)
      case .integer(let number): .found("\(number)")
      // Other numbers are left out because they may have been rounded.
      default: .missing(reason: "the response has no text or integer at \(path.named(at: place))")
      }
  }
}
