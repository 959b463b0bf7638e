import FormStreamPlatform
import Testing

@Suite struct MessageTests {
  private enum Limit: String, MessageSetting {
    case time = "Limits.time"
    case size = "Limits.size"

    var description: String { rawValue }
  }

  private struct Failure: Error, CustomStringConvertible {
    let description = "the disk is full"
  }

  @Test func `settings have the library's names, or those of who shows the message`() {
    let remedy: Message = "raise the limit (\(Limit.time))"
    let message: Message =
      "It took \(3) s: \(remedy), or ask. "
      + "\(Failure()), \("said" as String?)."
    #expect(
      message.description
        == "It took 3 s: raise the limit (Limits.time), or ask. the disk is full, Optional(\"said\")."
    )
    let named = message.text { $0 as? Limit == .time ? "--max-time" : "?" }
    #expect(named.contains("(--max-time)") && !named.contains("Limits.time"))
  }

  @Test func `a text that looks like a setting stays a text`() {
    let path = "Limits.time"
    let message: Message = "The file \(path) is missing."
    #expect(message.text { _ in "--max-time" } == "The file Limits.time is missing.")
    #expect(!message.names(Limit.time))
  }

  @Test func `a message knows the settings that it names`() {
    let message: Message = "Less than \(Limit.size) allows."
    #expect(message.names(Limit.size))
    #expect(!message.names(Limit.time))
  }
}
