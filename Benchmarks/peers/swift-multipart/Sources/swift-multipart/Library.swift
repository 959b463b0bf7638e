/// A library that is measured. Its functions run on no actor, as in a server.
protocol Library {
  /// Parses a body. The bytes are counted and not kept.
  static func parse(_ chunks: Chunks, boundary: String) async throws -> Count

  /// Encodes a form and passes on its bytes.
  static func encode(
    _ fields: Fields, boundary: String, to take: (ArraySlice<UInt8>) throws -> Void
  ) async throws
}

/// What a body contained.
struct Count {
  var parts = 0
  var bytes = 0
  /// The length of all names.
  var names = 0
}

/// The fields of a form.
enum Fields {
  /// A file in memory.
  case file([UInt8])
  /// The same, which a library that streams may read in chunks.
  case chunks(Chunks)
  case texts([(name: String, text: String)])
}
