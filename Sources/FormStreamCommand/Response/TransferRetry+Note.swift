import FormStreamHTTP
import FormStreamPlatform

extension TransferRetry {
  /// What follows, as a sentence; nil if an earlier line says it: a server that keeps an upload is tried many times.
  var note: String? {
    guard let timeLeft else { return "Trying again in \(HumanReadable.elapsed(delay)) (attempt \(attempt))." }
    guard beginsOutage else { return nil }
    let (seconds, rest) = timeLeft.components
    let isInMinutes = rest == 0 && seconds > 0 && seconds % 60 == 0
    let text = isInMinutes ? counted(seconds / 60, "more minute", "more minutes") : "\(HumanReadable.time(timeLeft)) more"
    return "Trying for \(text), because the upload can go on."
  }

  /// Prints that uploads wait for their server.
  func printNote() {
    guard let note else { return }
    StandardError.event("\(error.map { "\($0.message.text(naming: flagName)) " } ?? "")\(note)")
  }
}
