import FormStreamTestSupport
import Foundation
import Glibc
import Testing

/// Signals while a FIFO is opened that has no other end. The command said nothing, and ended after ten seconds.
@Suite struct FIFOSignalTests {
  #if arch(arm64)
    private static let openat = 56
  #else
    private static let openat = 257
  #endif
  private static let unread = "Nothing reads the file \"pipe\""

  @Test(arguments: [
    ("get -o pipe URL", unread), ("get -i -o pipe URL", unread), ("post -d a -o pipe URL", unread),
    ("get -c pipe -o x URL", unread), ("post -d a -c pipe -o x URL", unread),
    ("send -q -c pipe URL file", unread),
    ("get -b pipe URL", "Nothing writes to the file of -b"),
    ("put -T file -b pipe URL", "Nothing writes to the file of -b"),
    ("send -b pipe URL file", "Nothing writes to the file of -b"),
    ("get -D pipe -o x URL", ""), ("send --failed pipe URL file", ""),
    ("send --files-from pipe URL", "Nothing was sent"),
  ])
  func `a signal ends a command that opens a FIFO, and it says what it waited for`(
    _ arguments: String, _ message: String
  ) throws {
    let server = try ScriptedServer { _ in .good(body: "text") }
    let place = try TemporaryDirectory()
    try place.write("file", "a")
    try makeFIFO(place.local("pipe"))
    let words = arguments.replacing("URL", with: server.url).split(separator: " ")
    let program = try RunningProgram(
      program: builtBinary("formstream"), rawArguments: words.map { Array($0.utf8) }, in: place)
    waitWhileOpening(program.pid)
    program.signal(SIGINT)
    let end = try program.wait()
    #expect(end.signal == SIGINT, "\(end.stderr)")
    #expect(message.isEmpty ? end.stderr.isEmpty : end.stderr.contains(message), "\(end.stderr)")
    #expect(server.requests.count == (arguments.contains("-c ") ? 1 : 0))
  }

  /// Waits until a thread of a process sleeps in the system call that opens a file.
  private func waitWhileOpening(_ pid: Int32) {
    let deadline = ContinuousClock.now + .seconds(30)
    let tasks = "/proc/\(pid)/task"
    while ContinuousClock.now < deadline {
      for task in (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? [] {
        let text = { (name: String) in
          (try? String(contentsOfFile: "\(tasks)/\(task)/\(name)", encoding: .utf8)) ?? ""
        }
        if text("syscall").hasPrefix("\(Self.openat) "), text("status").contains("State:\tS") {
          return
        }
      }
      usleep(1000)
    }
  }
}
