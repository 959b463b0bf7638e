import CFormStreamMicroHTTPD
import FormStreamMultipart

extension RequestHead {
  /// Reads a head from libmicrohttpd.
  ///
  /// libmicrohttpd does not report lines that end in LF alone, continued lines, or bytes that follow a NUL. The positions of
  /// the headers show such lines: libmicrohttpd parses a head in place, and overwrites line ends with NULs. So if a head has no
  /// such lines, each header begins two bytes after the end of the previous header. From version 1.0 on, libmicrohttpd refuses
  /// heads with such lines itself.
  ///
  /// C: `MHD_get_connection_values_n`, `MHD_get_connection_info`
  init(
    of handle: OpaquePointer, method: UnsafePointer<CChar>, target: String, targetSize: Int,
    version: UnsafePointer<CChar>
  ) {
    let list = HeaderList(next: version + length(of: version) + lineEnd)
    // The 2 stands for the single spaces before and after the target.
    list.isPlain = version == method + length(of: method) + targetSize + 2
    MHD_get_connection_values_n(
      handle, .HEADER_KIND,
      { list, _, name, nameSize, value, valueSize in
        guard let list else { return .NO }
        Unmanaged<HeaderList>.fromOpaque(list).takeUnretainedValue().append(
          name, nameSize, value, valueSize)
        return .YES
      }, Unmanaged.passUnretained(list).toOpaque())
    let isComplete = list.next + lineEnd == method + formstream_head_size(handle)
    let isCheckedByLibrary = MHD_get_version().map { $0.pointee != CChar(48) } ?? false
    self.init(
      method: String(cString: method), target: target, version: String(cString: version),
      fields: list.fields, isPlain: (list.isPlain && isComplete) || isCheckedByLibrary)
  }
}

/// The length of CR LF.
private let lineEnd = 2

private final class HeaderList {
  var fields: HTTPHeaders = [:]
  /// Where the next header begins, if the head so far has only lines of one header each that end in CR LF.
  var next: UnsafePointer<CChar>
  var isPlain = true

  init(next: UnsafePointer<CChar>) {
    self.next = next
  }

  func append(
    _ name: UnsafePointer<CChar>?, _ nameSize: Int, _ value: UnsafePointer<CChar>?,
    _ valueSize: Int
  ) {
    // The value keeps its blanks, because other servers may read some headers with blanks differently.
    fields.append(
      String(decoding: Self.bytes(name, nameSize), as: UTF8.self),
      bytes: Array(Self.bytes(value, valueSize)))
    if let name, let value, name == next {
      next = value + valueSize + lineEnd
    } else {
      isPlain = false
    }
  }

  private static func bytes(
    _ start: UnsafePointer<CChar>?, _ size: Int
  ) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : size)
  }
}
