import HTTPTypes
// What generated clients and servers call is public for them only.
@_spi(Generated) import OpenAPIRuntime

enum OpenAPILibrary: Library {
  static func parse(_ chunks: Chunks, boundary: String) async throws -> Count {
    let body = HTTPBody(
      chunks, length: .known(Int64(chunks.bytes.count)), iterationBehavior: .single)
    let parts = try Converter(configuration: Configuration()).getRequiredRequestBodyAsMultipart(
      MultipartBody<MultipartRawPart>.self, from: body, transforming: { $0 }, boundary: boundary,
      allowsUnknownParts: true, requiredExactlyOncePartNames: [], requiredAtLeastOncePartNames: [],
      atMostOncePartNames: [], zeroOrMoreTimesPartNames: [], decoding: { $0 })
    var count = Count()
    for try await part in parts {
      count.parts += 1
      count.names += part.name?.utf8.count ?? 0
      for try await chunk in part.body { count.bytes += chunk.count }
    }
    return count
  }

  static func encode(
    _ fields: Fields, boundary: String, to take: (ArraySlice<UInt8>) throws -> Void
  ) async throws {
    func file(_ body: HTTPBody) -> MultipartRawPart {
      MultipartRawPart(name: "file", filename: "file", headerFields: [:], body: body)
    }
    let parts =
      switch fields {
      case .file(let bytes): [file(HTTPBody(bytes))]
      case .chunks(let chunks):
        [file(HTTPBody(chunks, length: .known(Int64(chunks.bytes.count)), iterationBehavior: .single))]
      case .texts(let texts):
        texts.map { MultipartRawPart(name: $0.name, headerFields: [:], body: HTTPBody($0.text)) }
      }
    var headers = HTTPFields()
    let configuration = Configuration(
      multipartBoundaryGenerator: ConstantMultipartBoundaryGenerator(boundary: boundary))
    let body = try Converter(configuration: configuration).setRequiredRequestBodyAsMultipart(
      MultipartBody(parts), headerFields: &headers, contentType: "multipart/form-data",
      allowsUnknownParts: true, requiredExactlyOncePartNames: [], requiredAtLeastOncePartNames: [],
      atMostOncePartNames: [], zeroOrMoreTimesPartNames: [], encoding: { $0 })
    for try await chunk in body { try take(chunk) }
  }
}
