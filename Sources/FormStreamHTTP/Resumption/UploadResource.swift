/// What this client knows about the resource under which a server keeps an unfinished upload.
package struct UploadResource: Sendable {
  package var url: HTTPURL
  /// How many bytes of the body the server has confirmed.
  package var confirmed: Int64
  /// How many bytes of the body the server can have at most: no more were read.
  package var mostSent: Int64

  /// The most bytes that one request may append; nil if the server names no limit.
  package var largestPiece: Int64?
  /// Whether the server must be told how long the upload is.
  var lacksLength = false

  package init(_ url: HTTPURL, confirmed: Int64 = 0, mostSent: Int64 = 0) {
    self.url = url
    self.confirmed = confirmed
    self.mostSent = mostSent
  }

  /// Notes what an attempt has shown.
  mutating func note(_ notes: UploadNotes, read: Int64) {
    confirmed = max(confirmed, notes.confirmed ?? 0)
    largestPiece = notes.largestPiece ?? largestPiece
    mostSent = max(mostSent, read)
  }
}
