/// Messages for people.
enum StandardError {
  /// Writes a line. If standard error is closed, the message is lost.
  static func write(_ line: String) {
    MessageStream.standardError.write(line)
  }

  /// Writes a message of the command about something that has just happened. In logs, the time comes first.
  static func event(_ message: String) {
    MessageStream.standardError.event(message)
  }

  /// Writes a question, and leaves the cursor after it.
  static func ask(_ question: String) {
    MessageStream.standardError.write(record: Array(visible(question).utf8))
  }

  /// Writes a message of the command itself.
  static func note(_ message: String) {
    write("formstream: \(message)")
  }
}
