import CFormStreamMicroHTTPD
import FormStreamIntake

/// Lets libmicrohttpd send a response.
///
/// C: `MHD_create_response_from_buffer`, `MHD_add_response_header`, `MHD_queue_response`
func queue(_ response: Response, on handle: OpaquePointer) -> MHD_Result {
  var body = response.body
  guard
    let queued = MHD_create_response_from_buffer(body.count, &body, .RESPMEM_MUST_COPY)
  else { return .NO }
  defer { MHD_destroy_response(queued) }
  for header in response.headers { MHD_add_response_header(queued, header.name, header.value) }
  if response.closes { MHD_add_response_header(queued, "Connection", "close") }
  return MHD_queue_response(handle, UInt32(response.status), queued)
}

/// The reason phrase of a status (RFC 9110 §15).
///
/// C: `MHD_get_reason_phrase_for`
func reasonPhrase(for status: Int) -> String {
  MHD_get_reason_phrase_for(UInt32(clamping: status)).map { String(cString: $0) } ?? ""
}
