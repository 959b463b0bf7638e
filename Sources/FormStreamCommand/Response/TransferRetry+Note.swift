import FormStreamHTTP
import FormStreamPlatform

extension TransferRetry {
  /// What follows, as a sentence; nil if an earlier line says it: a server that can't be reached for minutes is tried many times.
  var note: String? {
    guard let timeLeft else { return "Trying again in \(HumanReadable.elapsed(delay)) (attempt \(attempt))." }
    return beginsOutage ? Self.noteOnOutage(timeLeft) : nil
  }

  /// That a server can't be reached, and is tried for some time.
  static func noteOnOutage(_ time: Duration) -> String {
    let (seconds, rest) = time.components
    let isInMinutes = rest == 0 && seconds > 0 && seconds % 60 == 0
    let text = isInMinutes ? counted(seconds / 60, "more minute", "more minutes") : "\(HumanReadable.time(time)) more"
    return "The server can't be reached: trying for \(text), because the upload can go on."
  }
}

extension TransferRetry {
  /// Prints that the server can't be reached, for all files that wait for it.
  func printNote() {
    guard let note else { return }
    StandardError.event("\(error.map { "\($0.message.text(naming: flagName)) " } ?? "")\(note)")
  }
}
