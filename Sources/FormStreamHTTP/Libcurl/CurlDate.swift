import CFormStreamCurl

/// The moment that a text names, in seconds since 1970; nil if it names none. A text without a time of day means midnight, and
/// a text without a zone means UTC.
///
/// C: `curl_getdate`
func curlDate(_ text: String) -> Int64? {
  // A NUL would end the text.
  guard !text.utf8.contains(0) else { return nil }
  let seconds = curl_getdate(text, nil)
  return seconds == -1 ? nil : Int64(seconds)
}
