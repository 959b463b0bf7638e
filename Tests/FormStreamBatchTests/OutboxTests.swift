import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import Testing

/// A program that removes files after the server has them, and is ended between a result and the removal.
@Suite struct OutboxTests {
  private let directory: TemporaryDirectory
  private let server: ScriptedServer
  private let count = 20

  init() throws {
    directory = try TemporaryDirectory()
    server = try ScriptedServer { _ in .good() }
    try FileManager.default.createDirectory(atPath: directory.path("outbox"), withIntermediateDirectories: false)
    for number in 0..<count { try directory.write("outbox/\(number)", "\(number)") }
  }

  private func outbox() throws -> Batch {
    var outbox = try Batch([.path(directory.local("outbox"))], to: "\(server.url)/")
    outbox.journal = directory.local("journal")
    outbox.concurrency = 1
    outbox.includesAcceptedEarlier = true
    return outbox
  }

  private func left() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path("outbox")).sorted()
  }

  /// Sends what is left, and removes the files that the server has. Returns how many results an earlier run has earned.
  private func clear(_ outbox: Batch) async throws -> Int {
    var earlier = 0
    for try await result in try await outbox.start().results where result.isAccepted {
      if result.state == .skipped { earlier += 1 }
      #expect(try result.removeFile())
    }
    return earlier
  }

  /// Every file stayed for ever whose result had come before the program ended.
  @Test func `a program that ends between a result and the removal finds the file again`() async throws {
    let outbox = try outbox()
    do {
      // The first result is lost, and with it those of the files that were accepted meanwhile.
      let task = try await outbox.start()
      for try await result in task.results where result.state == .ok { break }
      task.stop()
      try await task.end()
    }
    #expect(try left().count == count)
    let earlier = try await clear(outbox)
    let targets = server.requests.count
    #expect((1...count).contains(earlier) && targets == count, "\(earlier) \(targets)")
    #expect(try left() == [])
  }

  @Test func `files that all earlier rounds have delivered have results again`() async throws {
    var outbox = try outbox()
    outbox.includesAcceptedEarlier = false
    try await outbox.start().end()
    // A second round, so that the files are those of two manifests.
    try directory.write("outbox/new", "new")
    try await outbox.start().end()
    try directory.write("outbox/3", "changed since it was delivered")
    #expect(try await clear(outbox) == 0)
    let kept = try left()
    outbox.includesAcceptedEarlier = true
    let earlier = try await clear(outbox)
    // The changed file was sent, and removed by its result of that run.
    #expect((kept.count, earlier) == (count, count))
    #expect(try left() == [] && server.requests.count == count + 2)
    #expect(try await clear(outbox) == 0)
  }

  @Test func `more results than are kept for their reader come one after another`() async throws {
    let outbox = try outbox()
    for number in count..<700 { try directory.write("outbox/\(number)", "") }
    try await outbox.start().end()
    #expect(try await clear(outbox) == 700)
    #expect(try left() == [])
  }

  @Test func `a file that was replaced or refused is not removed`() async throws {
    let server = try ScriptedServer { $0.target == "/refused" ? .good(422) : .good() }
    let place = directory.path("few")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    for name in ["replaced", "written", "refused", "gone"] { try directory.write("few/\(name)", "one") }
    let batch = try Batch(putting: [.path(directory.local("few"))], to: "\(server.url)/")
    var removed: [String: Bool] = [:]
    for try await result in try await batch.start().results {
      let name = String(result.file.path.description.split(separator: "/").last ?? "")
      switch name {
      case "replaced":
        try directory.write("few/next", "two")
        try FileManager.default.removeItem(atPath: "\(place)/replaced")
        try FileManager.default.moveItem(atPath: "\(place)/next", toPath: "\(place)/replaced")
      case "written": try directory.write("few/written", "longer")
      case "gone": try FileManager.default.removeItem(atPath: "\(place)/gone")
      default: break
      }
      removed[name] = try result.removeFile()
    }
    #expect(removed == ["replaced": false, "written": false, "refused": false, "gone": true])
    #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == ["refused", "replaced", "written"])
  }

  /// Size and time don't tell such a file from the one that was delivered.
  @Test func `a file that another one of the same size and time has replaced is not removed`() async throws {
    let place = directory.path("few")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    let path = directory.path("few/f")
    func write(_ name: String, _ contents: String) throws {
      try directory.write(name, contents)
      let time = Date(timeIntervalSince1970: 1_000_000_000)
      try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: directory.path(name))
    }
    try write("few/f", "one")
    let batch = try Batch([.path(directory.local("few"))], to: "\(server.url)/")
    for try await result in try await batch.start().results {
      try write("next", "two")
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: directory.path("next"), toPath: path)
      #expect(try !result.removeFile())
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "two")
  }
}
