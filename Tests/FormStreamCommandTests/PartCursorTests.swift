import FormStreamCommand
import Synchronization
import Testing

@Suite struct PartCursorTests {
  private static func parts(_ list: [(Int64?, Int64?)]) -> ProgressSnapshot.Parts {
    ProgressSnapshot.Parts(list.map { .init(name: "f", sent: $0.0, size: $0.1) })
  }

  @Test(
    arguments: [
      ([], 0, 0), ([(0, 5), (0, 5)], 0, 0), ([(3, 5), (0, 5)], 0, 0), ([(5, 5), (0, 5)], 0, 1),
      ([(5, 5), (1, 5)], 1, 1), ([(5, 5), (5, 5)], 1, 2),
      // An empty part is sent if a part after it has begun.
      ([(5, 5), (0, 0), (0, 5)], 0, 1), ([(5, 5), (0, 0), (1, 5)], 2, 2), ([(5, 5), (0, 0)], 0, 1),
      // Nothing is known of the parts after one of unknown length.
      ([(5, 5), (0, nil), (nil, 5)], 0, 1), ([(5, 5), (nil, nil), (nil, 5)], 1, 1),
    ] as [([(Int64?, Int64?)], Int, Int)])
  func `the part that is being sent and the files that are sent`(
    _ list: [(Int64?, Int64?)], _ current: Int, _ filesDone: Int
  ) {
    var cursor = PartCursor()
    cursor.advance(over: Self.parts(list), isComplete: false)
    #expect(cursor.current == current)
    #expect(cursor.filesDone == filesDone)
    cursor.advance(over: Self.parts(list), isComplete: true)
    #expect(cursor.current == max(list.count - 1, 0))
    #expect(cursor.filesDone == list.count)
  }

  @Test func `fields are not files`() {
    var cursor = PartCursor()
    let parts = ProgressSnapshot.Parts([
      .init(name: "a", isFile: false, sent: 1, size: 1), .init(name: "b", sent: 2, size: 2),
      .init(name: "c", isFile: false, sent: 3, size: 3),
    ])
    cursor.advance(over: parts, isComplete: false)
    #expect(cursor.filesDone == 1)
    cursor.advance(over: parts, isComplete: true)
    #expect(cursor.filesDone == 1)
  }

  /// The bar is redrawn ten times a second, and a form may have 100,000 parts.
  @Test func `advancing looks only at new parts`() {
    var cursor = PartCursor()
    var list: [(Int64?, Int64?)] = Array(repeating: (0, 0), count: 1000)
    for index in stride(from: 0, to: 1000, by: 2) { list[index] = (0, 1) }
    var looks = 0
    for index in stride(from: 0, to: 1000, by: 2) {
      list[index] = (1, 1)
      let now = list
      let counter = Counter()
      let parts = ProgressSnapshot.Parts(count: now.count) { index in
        counter.count.withLock { $0 += 1 }
        return .init(name: "f", sent: now[index].0, size: now[index].1)
      }
      cursor.advance(over: parts, isComplete: false)
      looks += counter.count.withLock(\.self)
    }
    #expect(cursor.filesDone == 999)
    #expect(looks <= 1500)
  }
}

private final class Counter: Sendable {
  let count = Mutex(0)
}
