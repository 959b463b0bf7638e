import FormStreamJSON
import FormStreamHTTP

/// The response to a request as JSON.
struct JSONResponse {
  /// Nil if the response is not JSON, or was cut because it is too long.
  let value: JSONValue?

  /// How many bytes of a response are kept if a value in it is needed.
  static func maximumBytes(files: Int) -> Int { 1024 * (1024 + files) }

  /// Why there is no value, as the end of a sentence.
  static let noValue = "the response is not JSON, or too long"

  init(_ response: TransferResponse) {
    value = response.isTruncated ? nil : try? JSONValue(parsing: Array(response.body))
  }
}
