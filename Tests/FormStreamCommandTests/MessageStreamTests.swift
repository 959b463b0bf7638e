import FormStreamCommand
import Testing

@Suite struct MessageStreamTests {
  private let page = Page()

  @Test func `a message appears above the status, which is redrawn`() {
    let stream = page.stream()
    stream.showStatus { ["at \($0.columns)"] }
    #expect(page.take() == "\r\u{1B}[?7lat 80\u{1B}[J\u{1B}[?7h\r")
    #expect(page.openLines == 1)
    page.width = 40
    stream.write("note")
    #expect(page.take() == "\r\u{1B}[Jnote\n\r\u{1B}[?7lat 40\u{1B}[J\u{1B}[?7h\r")
    stream.clearStatus()
    #expect(page.take() == "\r\u{1B}[J")
    #expect(page.openLines == 0)
    stream.write("note")
    stream.clearStatus()
    #expect(page.take() == "note\n")
  }

  /// Wherever a terminal moves the lines when its size changes, the cursor is at their start.
  @Test func `after a status of several lines, the cursor is at the start of the first`() {
    let stream = page.stream()
    stream.showStatus { _ in ["one", "two", "three"] }
    #expect(
      page.take() == "\r\u{1B}[?7lone\u{1B}[K\r\ntwo\u{1B}[K\r\nthree\u{1B}[J\u{1B}[?7h\r\u{1B}[2A")
    #expect(page.openLines == 3)
    stream.write("note")
    #expect(
      page.take()
        == "\r\u{1B}[Jnote\n\r\u{1B}[?7lone\u{1B}[K\r\ntwo\u{1B}[K\r\nthree\u{1B}[J\u{1B}[?7h\r\u{1B}[2A"
    )
    stream.showStatus { _ in ["one"] }
    #expect(page.take() == "\r\u{1B}[?7lone\u{1B}[J\u{1B}[?7h\r")
    #expect(page.openLines == 1)
    stream.clearStatus()
    #expect(page.take() == "\r\u{1B}[J")
  }

  @Test func `messages can't control the terminal`() {
    page.stream().write("a\u{1B}[2J\u{202E}b\r")
    #expect(page.take() == "a\\u{1B}[2J\\u{202E}b\\u{D}\n")
  }

  @Test func `nothing is drawn while the terminal belongs to another job`() {
    let stream = page.stream()
    page.width = nil
    stream.showStatus { _ in ["status"] }
    #expect(page.take() == "")
    stream.write("note")
    #expect(page.take() == "note\n")
    #expect(page.openLines == 0)
    page.width = 80
    stream.write("note")
    #expect(page.take() == "note\n\r\u{1B}[?7lstatus\u{1B}[J\u{1B}[?7h\r")
    #expect(page.openLines == 1)
  }
}
