/// What is not data: messages for people.
enum StandardError {
  /// Writes a line. Where standard error is closed there is nobody to tell.
  static func write(_ line: String) {
    MessageStream.standardError.write(line)
  }
}
