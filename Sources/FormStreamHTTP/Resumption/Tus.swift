import FormStreamMultipart
import FormStreamPlatform

/// The names and values of tus 1.0 (https://tus.io/protocols/resumable-upload).
enum Tus {
  static let version = "1.0.0"
  static let partType = "application/offset+octet-stream"

  /// The value of `Upload-Metadata`: "one or more comma-separated key-value pairs. The key and value MUST be separated by a
  /// space. The key MUST NOT contain spaces and commas […]. The value MUST be Base64 encoded."
  ///
  /// Servers know the name and the type of a file by these keys: tusd and Uppy by `filename` and `filetype`, others by `name`
  /// and `type`, Supabase by `contentType`.
  static func metadata(of body: BodyLayout?, _ own: [String: String]) -> String? {
    var pairs = own
    if let type = body?.contentType, !type.isEmpty, pairs["filetype"] == nil { pairs["filetype"] = type }
    if let name = body?.fileName, pairs["filename"] == nil { pairs["filename"] = name }
    guard !pairs.isEmpty else { return nil }
    return pairs.sorted { $0.key < $1.key }
      .map { $0.value.isEmpty ? $0.key : "\($0.key) \(base64(Array($0.value.utf8)))" }
      .joined(separator: ",")
  }
}

extension UploadResumption {
  /// Why the metadata can't be sent; nil if they can.
  var flawOfMetadata: TransferError? {
    for name in metadata.keys
    where name.isEmpty || !name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }) {
      return .uploadMetadataName(name)
    }
    return nil
  }
}
