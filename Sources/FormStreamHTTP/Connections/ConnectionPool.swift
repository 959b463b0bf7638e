import FormStreamNet
import FormStreamPlatform
import FormStreamWire

/// The idle connections of an engine, and what new ones need. All of it belongs to the loop's thread.
final class ConnectionPool: @unchecked Sendable {
  /// The size of the pieces in which responses are read.
  private static let readSize = 256 * 1024

  let loop: EventLoop
  let resolver: Resolver
  let settings: Connecting.Settings
  /// Where responses are read into. Each piece is used up before the next one is read.
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readSize, alignment: 16)
  private let idleLimit: Duration
  private let maximumIdle: Int
  /// The idle connections of each place; the one that was used last is at the end.
  private var idle: [ConnectionPlace: [Connection]] = [:]
  private var count = 0
  /// When the timer closes the next idle connection.
  private var nextEnd = MonotonicTime.never
  private lazy var timer = LoopTimer(on: loop) { [weak self] in self?.closeOverdue() }

  init(_ configuration: Shared<TransferSession.Configuration>, on loop: EventLoop) {
    self.loop = loop
    let configuration = configuration.value
    resolver = Resolver(overrides: configuration.addresses.map(\.override))
    var settings = Connecting.Settings()
    settings.keepAlive = configuration.keepAliveTime
    settings.localEnd = configuration.localInterface.map { LocalEnd($0) }
    self.settings = settings
    (idleLimit, maximumIdle) = (configuration.idleLimit.bounded, configuration.maximumIdleConnections)
  }

  deinit { buffer.deallocate() }

  /// Takes an idle connection on which nothing has arrived; nil if there is none.
  func take(_ place: ConnectionPlace) -> Connection? {
    while let connection = idle[place]?.popLast() {
      count -= 1
      if connection.idleEnd > loop.now, connection.socket.isOpen, !connection.socket.hasInput() { return connection }
      connection.close()
    }
    idle[place] = nil
    return nil
  }

  /// Closes an idle connection that a new one replaces, so that there are never more of them than requests were allowed at the same
  /// time.
  func makeRoom(at place: ConnectionPlace) {
    if let replaced = idle[place]?.first { close(replaced) }
  }

  /// Keeps a connection for other requests.
  func keep(_ connection: Connection) {
    connection.exchange = nil
    connection.trim()
    var time = idleLimit
    if let seconds = connection.wire.reuseSeconds { time = min(time, .seconds(seconds)) }
    guard maximumIdle > 0, time > .zero, connection.socket.isOpen, !connection.socket.hasHungUp else {
      return connection.close()
    }
    if count >= maximumIdle { closeOldest() }
    connection.idleEnd = loop.now + time
    idle[connection.place, default: []].append(connection)
    count += 1
    if !timer.isSet || connection.idleEnd < nextEnd { setTimer(at: connection.idleEnd) }
  }

  /// Closes an idle connection.
  func close(_ connection: Connection) {
    guard let index = idle[connection.place]?.firstIndex(where: { $0 === connection }) else { return }
    idle[connection.place]?.remove(at: index)
    if idle[connection.place]?.isEmpty == true { idle[connection.place] = nil }
    count -= 1
    connection.close()
  }

  func closeAll() {
    for connection in idle.values.joined() { connection.close() }
    (idle, count) = ([:], 0)
    timer.cancel()
  }

  private func closeOldest() {
    let oldest = idle.values.compactMap(\.first).min { $0.idleEnd < $1.idleEnd }
    if let oldest { close(oldest) }
  }

  private func closeOverdue() {
    for connection in Array(idle.values.joined()) where connection.idleEnd <= loop.now { close(connection) }
    if let next = idle.values.joined().map(\.idleEnd).min() { setTimer(at: next) }
  }

  private func setTimer(at moment: MonotonicTime) {
    nextEnd = moment
    timer.set(at: moment)
  }
}
