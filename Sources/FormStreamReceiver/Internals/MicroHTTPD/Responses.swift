import FormStreamMultipart
import CFormStreamMicroHTTPD
import FormStreamIntake

/// Lets libmicrohttpd send a response.
///
/// C: `MHD_create_response_from_callback`, `MHD_add_response_header`, `MHD_queue_response`
func queue(_ response: Response, on handle: OpaquePointer) -> MHD_Result {
  // libmicrohttpd reads the body directly from the array. The array may be as large as the largest record, and a copy would
  // double the memory.
  let body = Unmanaged.passRetained(ResponseBody(response.body)).toOpaque()
  guard
    let queued = MHD_create_response_from_callback(
      UInt64(response.body.count), min(max(response.body.count, 1), 64 * 1024),
      { body, offset, buffer, size in
        guard let body, let buffer else { return -1 }
        return ResponseBody.from(body).copy(from: offset, to: buffer, upTo: size)
      }, body, { body in body.map(ResponseBody.release) })
  else {
    ResponseBody.release(body)
    return .NO
  }
  defer { MHD_destroy_response(queued) }
  for header in response.headers { MHD_add_response_header(queued, header.name, header.value) }
  if response.closes { MHD_add_response_header(queued, "Connection", "close") }
  return MHD_queue_response(handle, UInt32(response.status), queued)
}

/// The body of a response, which libmicrohttpd releases.
private final class ResponseBody {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  static func from(_ pointer: UnsafeMutableRawPointer) -> ResponseBody {
    Unmanaged<ResponseBody>.fromOpaque(pointer).takeUnretainedValue()
  }

  static func release(_ pointer: UnsafeMutableRawPointer) {
    Unmanaged<ResponseBody>.fromOpaque(pointer).release()
  }

  /// Copies at most `size` bytes, and returns how many were copied.
  func copy(from offset: UInt64, to buffer: UnsafeMutableRawPointer, upTo size: Int) -> Int {
    let rest = bytes.dropFirst(Int(clamping: offset)).prefix(size)
    UnsafeMutableRawBufferPointer(start: buffer, count: size).copyBytes(from: rest)
    return rest.count
  }
}

/// The reason phrase of a status (RFC 9110 §15).
///
/// C: `MHD_get_reason_phrase_for`
func reasonPhrase(for status: Int) -> String {
  MHD_get_reason_phrase_for(UInt32(clamping: status)).map { String(cString: $0) } ?? ""
}
