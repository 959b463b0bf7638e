import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Bodies that are written to files.
@Suite struct BodyFileTests {
  private let directory: TemporaryDirectory
  init() throws { directory = try TemporaryDirectory() }

  private func names() throws -> [String] {
    try run(program: "/bin/ls", ["-A"], in: directory).output.split(separator: "\n").map(String.init)
  }

  private func layout(_ size: Int) throws -> BodyLayout {
    let path = try directory.write("source", noise(size))
    return try Form(boundary: Boundary("B")) {
      Part.text("a", "1")
      Part.file("f", path)
    }.layout()
  }

  @Test func `the file has the bytes of the body, and the last step says so`() async throws {
    let layout = try layout(3_000_000)
    let steps = Guarded<[BodyFileProgress]>([])
    let file = try await layout.write(to: directory.local("body")) { step in
      steps.withLock { $0.append(step) }
    }
    let bytes = try layout.bytes(limit: 1 << 24)
    #expect(file.size == Int64(bytes.count) && "\(file.type)" == "multipart/form-data; boundary=B")
    #expect(file.path == directory.local("body"))
    try directory.write("expected", bytes)
    #expect(try run(program: "/usr/bin/cmp", ["body", "expected"], in: directory).exit == 0)
    let all = steps.withLock(\.self)
    #expect(all.last?.isComplete == true && all.last?.written == file.size)
    #expect(all.allSatisfy { $0.total == file.size && $0.isComplete == ($0.written == file.size) })
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.written <= $1.written })
  }

  @Test func `an older file is there until the new one is complete`() async throws {
    try directory.write("body", "old")
    let gate = try Gate()
    let begun = try Gate()
    let layout = try Form(boundary: Boundary("B")) {
      Part.stream("s", length: nil, replay: .once) { GatedSource(begun, gate, noise(100)) }
    }.layout()
    let task = layout.startWriting(to: directory.local("body"))
    #expect(begun.wait())
    #expect(try run(program: "/bin/cat", ["body"], in: directory).output == "old")
    #expect(!task.currentProgress.isComplete)
    gate.open()
    let file = try await task.file
    #expect(file.size > 100 && task.currentProgress.written == file.size)
    #expect(try names() == ["body"])
    // A sequence of an ended task has its last step.
    var last: BodyFileProgress?
    for await step in task.progress { last = step }
    #expect(last?.written == file.size && last?.total == nil && last?.isComplete == true)
  }

  /// Otherwise, memory would grow whenever a program looks at the progress.
  @Test func `a sequence of progress that nobody reads any more is forgotten`() async throws {
    let (gate, begun) = (try Gate(), try Gate())
    let layout = try Form(boundary: Boundary("B")) {
      Part.stream("s", length: nil, replay: .once) { GatedSource(begun, gate, noise(100)) }
    }.layout()
    let task = layout.startWriting(to: directory.local("body"))
    func look() async { for await _ in task.progress { break } }
    for _ in 0..<3 { await look() }
    #expect(task.openSequences == 0)
    let kept = task.progress
    #expect(task.openSequences == 1)
    gate.open()
    var last: BodyFileProgress?
    for await step in kept { last = step }
    #expect(last?.isComplete == true && task.openSequences == 0)
  }

  @Test func `after a cancellation nothing is left`() async throws {
    let gate = try Gate()
    let begun = try Gate()
    let layout = try Form(boundary: Boundary("B")) {
      Part.stream("s", length: nil, replay: .once) { GatedSource(begun, gate, noise(100)) }
    }.layout()
    let place = directory.local("body")
    let task = Task { try await layout.write(to: place) }
    // A wait that blocked this thread could keep the task from its first step.
    while !begun.isOpen { try await Task.sleep(for: .milliseconds(5)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try names() == [])
    gate.open()
  }

  @Test func `a body whose file can't get its name is never shown as complete`() async throws {
    _ = try run(program: "/bin/mkdir", ["-p", "body/x"], in: directory)
    let task = try layout(3000).startWriting(to: directory.local("body"))
    await #expect(throws: MultipartError.self) { try await task.file }
    let last = task.currentProgress
    #expect(!last.isComplete && last.written != last.total)
    #expect(try names() == ["body", "source"])
  }

  @Test func `a changed source and a missing directory are errors, and leave nothing`() async throws {
    let layout = try layout(3000)
    try directory.write("source", noise(4000))
    let changed = await #expect(throws: MultipartError.self) {
      try await layout.write(to: directory.local("body"))
    }
    #expect(changed?.code == .sourceChanged)
    #expect(try names() == ["source"])
    let missing = await #expect(throws: MultipartError.self) {
      try await layout.write(to: directory.local("none/body"))
    }
    #expect(missing?.code == .writeFailed)
    #expect(missing?.description.contains("none/body") == true)
  }
}

/// A stream that opens a gate when it is read, and gives its bytes after another gate was opened, or an error after it was
/// interrupted.
private final class GatedSource: ByteSource {
  private let begun: Gate
  private let gate: Gate
  private var bytes: [UInt8]
  private let isInterrupted = Guarded(false)

  init(_ begun: Gate, _ gate: Gate, _ bytes: [UInt8]) {
    (self.begun, self.gate, self.bytes) = (begun, gate, bytes)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    begun.open()
    _ = gate.wait()
    if isInterrupted.withLock(\.self) { throw CancellationError() }
    let piece = bytes.prefix(buffer.count)
    piece.withUnsafeBytes { buffer.copyMemory(from: $0) }
    bytes.removeFirst(piece.count)
    return piece.count
  }

  func interrupt() {
    isInterrupted.withLock { $0 = true }
    gate.open()
  }

  func close() {}
}
