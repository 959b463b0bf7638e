import FormStreamCommand
import Testing

@Suite struct MessageStreamTests {
  private let page = Page()

  @Test func `a message appears above the status line, which is redrawn`() {
    let stream = page.stream()
    stream.showStatus { "at \($0)" }
    #expect(page.take() == "\rat 80\u{1B}[K")
    #expect(page.isLineOpen)
    page.width = 40
    stream.write("note")
    #expect(page.take() == "\r\u{1B}[Knote\n\rat 40\u{1B}[K")
    stream.clearStatus()
    #expect(page.take() == "\r\u{1B}[K")
    #expect(!page.isLineOpen)
    stream.write("note")
    stream.clearStatus()
    #expect(page.take() == "note\n")
  }

  @Test func `messages can't control the terminal`() {
    page.stream().write("a\u{1B}[2J\u{202E}b\r")
    #expect(page.take() == "a\\u{1B}[2J\\u{202E}b\\u{D}\n")
  }

  @Test func `nothing is drawn while the terminal belongs to another job`() {
    let stream = page.stream()
    page.width = nil
    stream.showStatus { _ in "status" }
    #expect(page.take() == "")
    stream.write("note")
    #expect(page.take() == "note\n")
    #expect(!page.isLineOpen)
    page.width = 80
    stream.write("note")
    #expect(page.take() == "note\n\rstatus\u{1B}[K")
    #expect(page.isLineOpen)
  }
}
