import FormStreamBatch
import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import Testing

/// Batches that programs start themselves.
@Suite struct BatchTaskTests {
  private let directory: TemporaryDirectory
  private let server: ScriptedServer
  /// The statuses of paths; other paths get 200.
  private let statuses = Guarded<[String: Int]>([:])

  init() throws {
    directory = try TemporaryDirectory()
    server = try ScriptedServer { [statuses] request in
      [.readBody, .respond(statuses.withLock { $0[request.target] } ?? 200)]
    }
    for name in ["a", "b", "c"] { try directory.write("tree-\(name)", name) }
  }

  private func files(_ count: Int) throws -> [BatchSource] {
    try (0..<count).map { .path(try directory.write("file-\($0)", "contents")) }
  }

  private var tree: [BatchSource] { ["a", "b", "c"].map { .path(directory.local("tree-\($0)")) } }

  private func putBatch(_ sources: [BatchSource]) throws -> Batch {
    var batch = try Batch(putting: sources, to: "\(server.url)/")
    batch.retry = RetryPolicy(attempts: 1)
    return batch
  }

  private func states(of task: BatchTask) async throws -> [String: BatchState] {
    var states: [String: BatchState] = [:]
    for try await result in task.results { states[name(of: result)] = result.state }
    return states
  }

  private func name(of result: FileResult) -> String {
    result.file.path.description.split(separator: "/").last.map(String.init) ?? ""
  }

  private func sent() -> [String] { server.requests.map(\.target).sorted() }

  @Test func `forms have the field, the text fields and the file`() async throws {
    var batch = try Batch(tree, to: "\(server.url)/form", as: "photo")
    batch.form.append(.text("album", "Lisbon"))
    batch.appendField("stem", try FileTemplate("{stem}-{size}"))
    let totals = try await batch.start().end()
    #expect(totals[.ok] == 3 && totals.listed == 3 && totals.isListed)
    let bodies = server.requests.map { String(decoding: $0.body, as: UTF8.self) }
    for name in ["a", "b", "c"] {
      let body = try #require(bodies.first { $0.contains(#"filename="tree-\#(name)""#) })
      #expect(body.contains("name=\"album\"\r\n\r\nLisbon\r\n"))
      #expect(body.contains("name=\"stem\"\r\n\r\ntree-\(name)-1\r\n"))
      #expect(body.contains(#"name="photo""#))
    }
  }

  @Test func `each file has a result, also one that is refused or missing`() async throws {
    statuses.withLock { $0["/tree-b"] = 422 }
    var batch = try putBatch(tree + [.path(directory.local("nowhere"))])
    batch.listing.keepsGoing = true
    let task = try await batch.start()
    let states = try await states(of: task)
    #expect(states == ["tree-a": .ok, "tree-b": .failed, "tree-c": .ok, "nowhere": .failed])
    #expect(task.totals.unreadable == 1 && task.totals.unaccepted == 2)
    #expect(task.progress.stage == .done)
  }

  @Test func `a path that was named and is missing fails before the first byte`() async throws {
    let batch = try putBatch(tree + [.path(directory.local("nowhere"))])
    await #expect { try await batch.start() } throws: { error in
      (error as? BatchError)?.code == .inputMissing
    }
    #expect(server.requests.isEmpty)
  }

  @Test func `a run with a journal sends what is new, has changed or was not accepted`() async throws {
    statuses.withLock { $0["/tree-b"] = 503 }
    var batch = try putBatch(tree)
    batch.journal = directory.local("journal")
    try await batch.start().end()
    #expect(sent() == ["/tree-a", "/tree-b", "/tree-c"])
    statuses.withLock { $0 = [:] }
    try directory.write("tree-c", "longer")
    let task = try await batch.start()
    #expect(try await states(of: task) == ["tree-b": .ok, "tree-c": .ok])
    #expect(task.round?.number == 2 && task.round?.unchanged == 1 && task.round?.changed == 1)
    let third = try await batch.start()
    #expect(try await third.end().listed == 0)
    #expect(server.requests.count == 5)
  }

  @Test func `a run that was cancelled goes on in the next one, and sends nothing twice`() async throws {
    let gate = try Gate()
    let server = try ScriptedServer { request in
      request.target == "/file-3" ? [.readBody, .waitFor(gate), .respond(200)] : [.readBody, .respond(200)]
    }
    var batch = try Batch(putting: files(40), to: "\(server.url)/")
    batch.journal = directory.local("journal")
    batch.concurrency = 1
    let task = try await batch.start()
    #expect(await eventually { server.requests.contains { $0.target == "/file-3" } })
    task.cancel()
    var accepted: Set<String> = []
    for try await result in task.results {
      #expect(result.state != .ok || accepted.insert(name(of: result)).inserted)
    }
    gate.open()
    #expect(accepted.count < 40 && !accepted.contains("file-3"))
    let rest = try await batch.start()
    #expect(rest.isResumed)
    for try await result in rest.results {
      #expect(result.state == .skipped || accepted.insert(name(of: result)).inserted)
    }
    #expect(accepted.count == 40)
    let targets = server.requests.map(\.target).filter { $0 != "/file-3" }
    #expect(targets.count == Set(targets).count)
  }

  @Test func `results that nobody reads hold the run`() async throws {
    let task = try await putBatch(files(600)).start()
    // Each of the run's tasks has at most one more file.
    #expect(await eventually { server.requests.count >= 256 })
    let other = try TransferSession()
    for _ in 0..<100 { _ = try await other.get("\(server.url)/other") }
    #expect(server.requests.count { $0.method == "PUT" } < 450)
    #expect(try await states(of: task).count == 600)
  }

  @Test func `a task that is released sends nothing more`() async throws {
    let gate = try Gate()
    let server = try ScriptedServer { _ in [.readBody, .waitFor(gate), .respond(200)] }
    var batch = try Batch(putting: files(100), to: "\(server.url)/")
    batch.journal = directory.local("journal")
    var task: BatchTask? = try await batch.start()
    #expect(await eventually { !server.requests.isEmpty })
    #expect(task?.progress.stage == .sending)
    task = nil
    gate.open()
    // The journal is closed when the run has ended.
    #expect(await eventually { journalIsClosed })
    #expect(server.requests.count < 100)
  }

  private var journalIsClosed: Bool {
    guard let journal = try? JournalReader.journals(in: directory.local("journal")).first else { return false }
    return (try? JournalReader.isClosed(journal)) ?? false
  }

  @Test func `nothing begins during a pause`() async throws {
    var batch = try putBatch(files(300))
    batch.concurrency = 1
    let task = try await batch.start()
    task.pause()
    let other = try TransferSession()
    var begun: [Int] = []
    for _ in 0..<20 {
      _ = try await other.get("\(server.url)/other")
      begun.append(server.requests.count { $0.method == "PUT" })
    }
    // The request that was on its way may arrive.
    #expect(begun[19] <= begun[0] + 1 && begun[19] < 300)
    task.resume()
    #expect(try await states(of: task).count == 300)
  }

  /// Regression: libcurl read responses during a pause that followed a resumption at once, and these responses were lost.
  @Test func `short pauses lose no response`() async throws {
    var batch = try formBatch(files(600))
    batch.concurrency = 8
    let task = try await batch.start()
    let toggling = Task {
      while !Task.isCancelled {
        task.pause()
        task.resume()
        await Task.yield()
      }
    }
    #expect(try await task.end()[.ok] == 600)
    toggling.cancel()
    #expect(server.requests.count == 600)
  }

  @Test func `several loops share the results, and all of them wait for the end`() async throws {
    let task = try await putBatch(files(200)).start()
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<3 {
        group.addTask {
          var count = 0
          for try await _ in task.results { count += 1 }
          return count
        }
      }
      group.addTask { try await task.end()[.ok] == 200 ? 0 : -1000 }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let sum = counts.reduce(0, +)
    #expect((0...200).contains(sum), "\(counts)")
    #expect(task.totals[.ok] == 200)
  }

  @Test func `progress ends with all files done`() async throws {
    let task = try await putBatch(files(50)).start()
    async let totals = task.end()
    var last: BatchProgress?
    for await progress in task.progressUpdates { last = progress }
    #expect(last?.stage == .done && last?.done == 50 && last?.total == 400 && last?.handed == 400)
    #expect(try await totals.acceptedBytes == 400)
  }

  @Test(arguments: [
    ("sources", "There are no files to send"), ("packing", "choose Packing.single"),
    ("slices", "leave out the packing, or the slices"), ("shard", "name the manifest"),
  ]) func `settings that contradict each other are refused`(_ case: (String, String)) async throws {
    var batch = try putBatch(tree)
    switch `case`.0 {
    case "sources": batch.sources = []
    case "packing": batch.packing = .together
    case "slices": batch.sliceSize = 10
    default: batch.shard = Shard(1, of: 2)
    }
    await #expect { try await batch.start() } throws: { error in
      (error as? BatchError)?.code == .invalidSettings && "\(error)".contains(`case`.1)
    }
    #expect(server.requests.isEmpty)
  }

  /// Regression: its thread and its descriptor stayed, and it counted as the journal of a killed run.
  @Test func `a start that fails closes its journal`() async throws {
    var batch = try putBatch(tree)
    batch.journal = directory.local("journal")
    batch.session.cookies = .session(file: LocalPath(directory.path))
    await #expect(throws: TransferError.self) { try await batch.start() }
    #expect(journalIsClosed)
  }

  @Test func `a start in a cancelled task sends nothing`() async throws {
    let batch = try putBatch(tree)
    let start = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await batch.start()
    }
    await #expect(throws: CancellationError.self) { try await start.value }
    #expect(server.requests.isEmpty)
  }

  /// A list of names below the directory, which come when their gates are open.
  private func list(_ names: [(gate: Gate, name: String?)]) -> BatchSource {
    let pieces = names.map { gate, name in
      (gate: gate, bytes: name.map { Array(directory.local($0).bytes) + [UInt8(ascii: "\n")] } ?? [])
    }
    return .list(name: "The list", ending: .lineFeed) { () throws(BatchError) in GatedSource(pieces) }
  }

  private func formBatch(_ sources: [BatchSource]) throws -> Batch {
    var batch = try Batch(sources, to: "\(server.url)/form", as: "photo")
    batch.retry = RetryPolicy(attempts: 1)
    batch.journal = directory.local("journal")
    return batch
  }

  /// Regression: the list's thread kept the lock on the manifest.
  @Test func `after the end of a cancelled run, the next one goes on with its list`() async throws {
    let (open, closed) = (try Gate(), try Gate())
    open.open()
    let task = try await formBatch([list([(open, "tree-a"), (closed, "tree-b")])]).start()
    #expect(await eventually { task.totals[.ok] == 1 })
    task.cancel()
    try await task.end()
    let next = try await formBatch([list([(open, "tree-a"), (open, "tree-b")])]).start()
    #expect(next.isResumed)
    #expect(try await states(of: next) == ["tree-b": .ok])
    // What the first list says from here on is not added.
    closed.open()
    let last = try await formBatch([list([(open, "tree-a"), (open, "tree-b")])]).start()
    #expect(try await last.end().listed == 0)
    #expect(server.requests.count == 2)
  }

  /// Regression: the comparison went on to its end.
  @Test func `a start that is cancelled while it compares ends at the next file`() async throws {
    let (open, next, end) = (try Gate(), try Gate(), try Gate())
    open.open()
    try await formBatch([list([(open, "tree-a")])]).start().end()
    let batch = try formBatch([list([(open, "tree-a"), (next, "tree-b"), (end, nil)])])
    let start = Task { try await batch.start() }
    #expect(await eventually { FileManager.default.fileExists(atPath: directory.path("journal/manifest-2.partial.jsonl")) })
    start.cancel()
    next.open()
    // The end of the list is never reached.
    await #expect(throws: CancellationError.self) { try await start.value }
    #expect(server.requests.count == 1)
  }

  @Test func `a journal belongs to the URL that it was begun with`() async throws {
    var batch = try putBatch(tree)
    batch.journal = directory.local("journal")
    try await batch.start().end()
    var other = try Batch(tree, to: "\(server.url)/form")
    other.journal = batch.journal
    await #expect { try await other.start() } throws: { error in
      (error as? BatchError)?.code == .journalMisplaced
    }
  }
}
