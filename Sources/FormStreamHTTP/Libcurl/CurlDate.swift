import CFormStreamCurl

/// The moment that a text names, in seconds since 1970; nil if it names none. Without a time of day it is midnight, without a
/// zone UTC.
///
/// C: `curl_getdate`
func curlDate(_ text: String) -> Int64? {
  // A NUL would end it.
  guard !text.utf8.contains(0) else { return nil }
  let seconds = curl_getdate(text, nil)
  return seconds == -1 ? nil : Int64(seconds)
}
