import Foundation
import FormStreamPlatform
import Testing
import FormStreamTransfer

/// Every way in which a server can treat a request, and what the client says about it.
///
/// The server of each cell knows what is true: which requests it received completely, and what it said about them.
/// By default, each first attempt is followed by one of the second attempts in turn.
/// `FORMSTREAM_GRID='plain fresh POST after-body:close 503'` runs the cells that begin so, with all second attempts;
/// `FORMSTREAM_GRID=all` runs all, as `make test-long` does.
@Suite(.serialized) struct OutcomeGridTests {
  private static let choice: String? = ProcessInfo.processInfo.environment["FORMSTREAM_GRID"]

  /// How long silence is waited for.
  private static let limit = Duration.milliseconds(150)

  @Test(arguments: GridCell.Transport.allCases)
  func `no outcome says more than its server knows`(transport: GridCell.Transport) async throws {
    let cells = GridCell.all(transport, withAllSeconds: Self.choice != nil).filter { cell in
      Self.choice == nil || Self.choice == "all" || "\(cell)".hasPrefix(Self.choice ?? "")
    }
    if cells.isEmpty { return }
    let runner = try GridRunner(withTLS: transport.isEncrypted)
    let lies = Guarded<[GridJudge.Lie]>([])
    await withTaskGroup(of: Void.self) { group in
      for (index, cell) in cells.enumerated() {
        if index >= 64 { await group.next() }
        group.addTask {
          do {
            let found = try await Self.lies(cell, index, runner)
            lies.withLock { $0 += found }
          } catch {
            Issue.record(error, "\(cell)")
          }
        }
      }
    }
    let found = lies.withLock { $0 }
    print("grid, \(transport.rawValue): \(cells.count) cells, \(found.count) lies")
    for lie in found { Issue.record("\(lie)") }
  }

  /// Plays a cell. On a slow machine a limit may pass before a response arrives: then the cell is played again with longer
  /// limits.
  private static func lies(
    _ cell: GridCell, _ index: Int, _ runner: GridRunner
  ) async throws -> [GridJudge.Lie] {
    let lies = GridJudge.lies(in: try await runner.run(cell, index: index, limit: limit))
    if lies.isEmpty || !cell.isSilent { return lies }
    return GridJudge.lies(
      in: try await runner.run(cell, index: index + 50_000, limit: limit * 10))
  }
}
