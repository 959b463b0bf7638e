import FormStreamPlatform

/// Limits the number of connections to each origin, over all engines of a session.
///
/// A request that would need one more connection waits in the queue of its origin. Requests that had a connection before come
/// first, then those with a higher priority, and then those that came earlier. A server may keep a part of the work of a request
/// that has begun. Each request ends after some attempts, so the others get their turn.
///
/// Each origin has a queue of its own, so a server that hangs doesn't hold up requests to other servers.
///
/// If a request waits for another request and keeps its own connection meanwhile, the other request gets a connection at once,
/// even beyond the maximum.
final class ConnectionLimit: Sendable {
  /// The right of a request to use one connection to an origin.
  struct Slot: Sendable {
    let origin: HTTPURL.Origin
    /// The index of the engine that has the connection.
    let engine: Int
    /// Whether the connection may be used by other requests at the same time.
    fileprivate(set) var isShared: Bool
    /// Whether the connection is one more than the maximum.
    let isExtra: Bool
    /// When the connection last served the request.
    let activity = ConnectionActivity()
  }

  /// What decides which requests come first.
  struct Place: Sendable {
    /// Whether the request had a connection before.
    let hasBegun: Bool
    let priority: Int

    func comes(before other: Place) -> Bool {
      hasBegun == other.hasBegun ? priority > other.priority : hasBegun
    }
  }

  /// A request's number in the queue of an origin.
  struct Ticket: Sendable {
    fileprivate let origin: HTTPURL.Origin
    fileprivate let number: Int
    fileprivate let waiting: Waiting
  }

  fileprivate final class Waiting: Sendable {
    let engine: Int
    let place: Place
    /// Whether the request may share a connection. This may become known only while the request waits.
    let mayShare: @Sendable () -> Bool
    /// Passes the slot to the request; returns false if the request doesn't want the slot any more.
    let accept: @Sendable (Slot) -> Bool

    init(
      _ engine: Int, _ place: Place, _ mayShare: @escaping @Sendable () -> Bool,
      _ accept: @escaping @Sendable (Slot) -> Bool
    ) {
      (self.engine, self.place, self.mayShare, self.accept) = (engine, place, mayShare, accept)
    }
  }

  /// How many requests may share a connection. RFC 9113 §6.5.2: "It is recommended that this value be no smaller than 100".
  fileprivate static let maximumSharing = 100

  /// The maximum for each engine. An engine can't use the idle connections of another engine, so each engine has its part.
  let parts: [Int]
  private let lanes = Guarded<[HTTPURL.Origin: Lane]>([:])

  init(_ maximum: Int, engines: Int) {
    parts = (0..<engines).map { maximum / engines + ($0 < maximum % engines ? 1 : 0) }
  }

  /// Takes a connection; nil if no connection is left, or if other requests wait for one.
  ///
  /// - Parameters:
  ///   - engine: the engine that is used if it has a connection left.
  ///   - mayShare: whether the connection may be one that other requests use, too.
  func take(_ origin: HTTPURL.Origin, on engine: Int, mayShare: Bool) -> Slot? {
    lanes.withLock {
      $0[origin, default: Lane(origin, parts)].takeUnlessQueued(on: engine, mayShare: mayShare)
    }
  }

  /// Takes a connection. If no connection is left, the new connection is one more than the maximum.
  func takeExtra(_ origin: HTTPURL.Origin, on engine: Int, mayShare: Bool) -> Slot {
    lanes.withLock {
      $0[origin, default: Lane(origin, parts)].takeExtra(on: engine, mayShare: mayShare)
    }
  }

  /// How long all connections to an origin have only waited for the program; zero if there are no connections.
  func timeHeldUp(_ origin: HTTPURL.Origin) -> Duration {
    lanes.withLock { $0[origin]?.timeHeldUp ?? .zero }
  }

  /// Waits for a connection.
  ///
  /// - Parameters:
  ///   - mayShare: asked when it is the request's turn.
  ///   - accept: called once with the connection, unless `leave` is called before. It returns false if the request doesn't want
  ///     the connection any more.
  func wait(
    for origin: HTTPURL.Origin, on engine: Int, at place: Place, mayShare: @escaping @Sendable () -> Bool,
    accept: @escaping @Sendable (Slot) -> Bool
  ) -> Ticket {
    let waiting = Waiting(engine, place, mayShare, accept)
    let number = lanes.withLock { $0[origin, default: Lane(origin, parts)].append(waiting) }
    serve(origin)
    return Ticket(origin: origin, number: number, waiting: waiting)
  }

  /// Leaves the queue.
  func leave(_ ticket: Ticket) {
    lanes.withLock { lanes in
      guard lanes[ticket.origin]?.queue[ticket.number] === ticket.waiting else { return }
      lanes[ticket.origin]?.leave(ticket.number)
      Self.removeIfIdle(ticket.origin, from: &lanes)
    }
  }

  /// Shares the connection with other requests, unless too many requests share one already.
  func share(_ slot: inout Slot) {
    let (origin, engine) = (slot.origin, slot.engine)
    guard !slot.isExtra, lanes.withLock({ $0[origin]?.share(engine) }) == true else { return }
    slot.isShared = true
    serve(origin)
  }

  /// Gives a connection back.
  func release(_ slot: Slot) {
    giveBack(slot)
    serve(slot.origin)
  }

  private func giveBack(_ slot: Slot) {
    lanes.withLock { lanes in
      lanes[slot.origin]?.giveBack(slot)
      Self.removeIfIdle(slot.origin, from: &lanes)
    }
  }

  private static func removeIfIdle(
    _ origin: HTTPURL.Origin, from lanes: inout [HTTPURL.Origin: Lane]
  ) {
    if lanes[origin]?.isIdle == true { lanes[origin] = nil }
  }

  /// Passes connections to the waiting requests, in order.
  private func serve(_ origin: HTTPURL.Origin) {
    while let (waiting, slot) = lanes.withLock({ $0[origin]?.next() }) {
      if !waiting.accept(slot) { giveBack(slot) }
    }
  }
}

/// One origin: the connections to it, and its queue.
private struct Lane {
  /// The connections of one engine.
  private struct Use {
    var exclusive = 0
    /// The number of requests that share one connection.
    var sharing = 0

    var connections: Int { exclusive + (sharing > 0 ? 1 : 0) }
    var hasRoomToShare: Bool { sharing < ConnectionLimit.maximumSharing }
  }

  private let origin: HTTPURL.Origin
  private let parts: [Int]
  private var uses: [Use]
  private var activities: [ObjectIdentifier: ConnectionActivity] = [:]
  /// The waiting requests, by numbers that increase.
  private(set) var queue: [Int: ConnectionLimit.Waiting] = [:]
  private var end = 0
  /// The numbers of the requests in the order of their turns, from the element at `first` on. A request that has left the queue is
  /// found out when it would be its turn.
  private var turns: [(place: ConnectionLimit.Place, number: Int)] = []
  private var first = 0

  init(_ origin: HTTPURL.Origin, _ parts: [Int]) {
    (self.origin, self.parts) = (origin, parts)
    uses = parts.map { _ in Use() }
  }

  var isIdle: Bool { queue.isEmpty && activities.isEmpty }

  var timeHeldUp: Duration { activities.values.map(\.timeHeldUp).min() ?? .zero }

  mutating func append(_ waiting: ConnectionLimit.Waiting) -> Int {
    queue[end] = waiting
    let place = waiting.place
    turns.insert((place, end), at: turns[first...].partitioningIndex { place.comes(before: $0.place) })
    end += 1
    return end - 1
  }

  /// Takes a request out of the queue before its turn.
  mutating func leave(_ number: Int) {
    queue[number] = nil
    // If no turn comes for long, the turns of requests that have left must not pile up.
    guard turns.count - first > 2 * queue.count + 32 else { return }
    turns = turns[first...].filter { queue[$0.number] != nil }
    first = 0
  }

  /// Takes the first request out of the queue, if there is a connection for it.
  mutating func next() -> (ConnectionLimit.Waiting, ConnectionLimit.Slot)? {
    while first < turns.count {
      let number = turns[first].number
      if let waiting = queue[number] {
        guard let slot = take(preferring: waiting.engine, mayShare: waiting.mayShare()) else {
          return nil
        }
        queue[number] = nil
        endTurn()
        return (waiting, slot)
      }
      // The request left the queue.
      endTurn()
    }
    return nil
  }

  private mutating func endTurn() {
    first += 1
    // The room of the turns that are over is given back now and then, so that a turn costs the same on average however many wait.
    guard first > 32, first > turns.count / 2 else { return }
    turns.removeFirst(first)
    first = 0
  }

  /// Takes a connection, unless other requests wait for one.
  mutating func takeUnlessQueued(on engine: Int, mayShare: Bool) -> ConnectionLimit.Slot? {
    queue.isEmpty ? take(preferring: engine, mayShare: mayShare) : nil
  }

  mutating func takeExtra(on engine: Int, mayShare: Bool) -> ConnectionLimit.Slot {
    if let slot = take(preferring: engine, mayShare: mayShare) { return slot }
    return slot(on: engine, isExtra: true)
  }

  private mutating func slot(
    on engine: Int, isShared: Bool = false, isExtra: Bool = false
  ) -> ConnectionLimit.Slot {
    let slot = ConnectionLimit.Slot(
      origin: origin, engine: engine, isShared: isShared, isExtra: isExtra)
    activities[ObjectIdentifier(slot.activity)] = slot.activity
    return slot
  }

  private mutating func take(preferring engine: Int, mayShare: Bool) -> ConnectionLimit.Slot? {
    func firstEngine(where isFit: (Int) -> Bool) -> Int? {
      isFit(engine) ? engine : uses.indices.first(where: isFit)
    }
    if mayShare {
      let isInUse = firstEngine { uses[$0].sharing > 0 && uses[$0].hasRoomToShare }
      if let engine = isInUse {
        uses[engine].sharing += 1
        return slot(on: engine, isShared: true)
      }
    }
    guard let engine = firstEngine(where: { uses[$0].connections < parts[$0] }) else { return nil }
    let isShared = mayShare && uses[engine].hasRoomToShare
    if isShared { uses[engine].sharing += 1 } else { uses[engine].exclusive += 1 }
    return slot(on: engine, isShared: isShared)
  }

  /// Lets other requests share a connection; returns false if too many requests share it already.
  mutating func share(_ engine: Int) -> Bool {
    guard uses[engine].hasRoomToShare else { return false }
    uses[engine].exclusive -= 1
    uses[engine].sharing += 1
    return true
  }

  mutating func giveBack(_ slot: ConnectionLimit.Slot) {
    activities[ObjectIdentifier(slot.activity)] = nil
    if slot.isExtra { return }
    if slot.isShared {
      uses[slot.engine].sharing -= 1
    } else {
      uses[slot.engine].exclusive -= 1
    }
  }
}

extension RandomAccessCollection {
  /// The index of the first element that belongs to the second part; the end if none does. All elements that belong to the second
  /// part come after those that don't.
  fileprivate func partitioningIndex(where isInSecondPart: (Element) -> Bool) -> Index {
    var (low, count) = (startIndex, count)
    while count > 0 {
      let half = count / 2
      let middle = index(low, offsetBy: half)
      if isInSecondPart(self[middle]) {
        count = half
      } else {
        low = index(after: middle)
        count -= half + 1
      }
    }
    return low
  }
}
