public import Foundation

extension Part {
  /// A value as JSON, with the type `application/json`: a file part if `filename` is given.
  ///
  /// - Throws: `notEncodable` if the value can't be encoded.
  public static func json(
    _ name: String = "", _ value: some Encodable, filename: String? = nil,
    headers: HTTPHeaders = [:], encoder: JSONEncoder = JSONEncoder()
  ) throws(MultipartError) -> Part {
    let bytes: Data
    do {
      bytes = try encoder.encode(value)
    } catch {
      throw MultipartError(
        .notEncodable, on: name,
        "The value of type \(Swift.type(of: value)) for part \(name.quoted) can't be encoded as JSON: \(error).",
        underlying: error)
    }
    return .bytes(name, bytes, filename: filename, type: .json, headers: headers)
  }

  /// The properties of a value as text fields, in their order.
  ///
  /// ```swift
  /// struct Photo: Encodable { var title: String; var tags: [String]; var place: Place? }
  /// let form = try Form { try Part.fields(of: photo) }  // title, tags, tags, place[city]
  /// ```
  ///
  /// - A list becomes several fields with the same name. If its elements are structures or lists themselves, the names
  ///   contain the indices of the elements: `items[0][price]`, or `items[0].price` with dots.
  /// - A value that is nil, an empty list, and an empty structure have no field.
  /// - Dates, data, URLs and decimals are encoded as `JSONEncoder` encodes them by default: seconds since 2001, base
  ///   64, and text. Format a date in `encode(to:)` if the server expects another text.
  /// - The keys of a dictionary are in alphabetical order, or ordered by size if they are numbers. The elements of a
  ///   set are sorted if they are `Comparable`; otherwise they are in no order.
  ///
  /// - Parameters:
  ///   - value: a structure, a class, or a dictionary whose keys are text, whole numbers or `CodingKeyRepresentable`.
  ///   - nesting: how the names of nested values are written.
  /// - Throws: `notEncodable` if the value is not a structure, if a dictionary in the value has other keys, if a number
  ///   is not finite, or if the value throws an error; `nestedTooDeep` if values are nested in more than
  ///   ``/FormStreamMultipart/Form/maximumNesting`` levels.
  public static func fields(
    of value: some Encodable, nesting: FieldNesting = .brackets
  ) throws(MultipartError) -> [Part] {
    let fields = FieldList()
    do {
      try FieldEncoder(into: fields, nesting: nesting).encodeValue(value)
    } catch let error as MultipartError {
      throw error
    } catch {
      throw MultipartError(
        .notEncodable, on: "\(Swift.type(of: value))",
        "A value of type \(Swift.type(of: value)) can't be encoded as fields: \(error).",
        underlying: error)
    }
    return fields.fields.map { .text($0.name, $0.text) }
  }
}
