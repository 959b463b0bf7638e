package import FormStreamPlatform

/// A thread that drives any number of connections and timers, and runs the tasks that decide what follows. Nothing on it may
/// block.
///
/// Sending is unchecked because only the inbox and the event that ends a wait are shared between threads. Everything else belongs to the
/// loop's thread, and the functions that use it say so.
package final class EventLoop: @unchecked Sendable {
  private enum Command {
    case call(@Sendable () -> Void)
    case run(UnownedJob)
  }

  private struct Inbox {
    var commands: [Command] = []
    /// Whether the loop waits or is about to wait, so that the next command has to wake it. Its thread begins with a wait.
    var isAwaited = true
    var isStopping = false
    /// Whether a thread takes the commands.
    var isServed = true
  }

  /// How often a turn of the loop carries out new commands before it looks at the descriptors again. Tasks that follow each other
  /// must not hold up the connections.
  private static let maximumRounds = 8

  private let name: String
  private let poller: Poller
  private let inbox = Guarded(Inbox())

  // MARK: Of the loop's thread

  /// When this turn of the loop began. The clock is read once a turn.
  package private(set) var now = MonotonicTime.now
  var timers = TimerHeap()
  /// The commands that are being carried out. The array keeps its memory for the next commands.
  private var taken: [Command] = []
  private var watched = WatchList()
  private(set) var hasEnded = false
  private let guest: (any LoopGuest)?

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - name: the thread's name; Linux cuts it after 15 bytes.
  ///   - guest: what also waits on the loop's thread.
  package init(named name: String = "formstream-net", guest: (any LoopGuest)? = nil) throws(SystemError) {
    (self.name, self.guest) = (name, guest)
    poller = try Poller()
    guard startThread(name, { [self] in drive() }) else { throw .noThread }
  }

  // MARK: From any thread

  /// Calls a closure on the loop's thread, after all closures that were passed before. Returns false, and drops the closure, if the
  /// loop was told to stop.
  ///
  /// The thread is woken only if it waits, because waking it costs more than the rest of a small request.
  @discardableResult package func post(_ body: @escaping @Sendable () -> Void) -> Bool {
    let (isAccepted, wakesThread) = inbox.withLock { inbox -> (Bool, Bool) in
      if inbox.isStopping { return (false, false) }
      inbox.commands.append(.call(body))
      defer { inbox.isAwaited = false }
      return (true, inbox.isAwaited)
    }
    if wakesThread { poller.wakeUp() }
    return isAccepted
  }

  /// Ends the thread, once it has carried out what was passed to it before, and the jobs that follow from it. The handlers of open
  /// descriptors are told, and all timers are cancelled.
  package func stop() {
    let wakesThread = inbox.withLock { inbox in
      inbox.isStopping = true
      defer { inbox.isAwaited = false }
      return inbox.isAwaited
    }
    if wakesThread { poller.wakeUp() }
  }

  /// Waits until the thread has ended after ``stop()``. Must not be called on the loop's thread.
  package func waitUntilStopped() {
    inbox.waitUntil({ $0.isStopping && !$0.isServed }) { _ in }
  }

  /// Whether this is the loop's thread.
  package var isCurrent: Bool { threadObject() == Unmanaged.passUnretained(self).toOpaque() }

  // MARK: On the loop's thread

  /// Tells a handler about a descriptor from now on, and first about what is possible already.
  ///
  /// - Returns: the descriptor's place, which ``forget(_:)`` gets before the descriptor is closed.
  package func watch(_ descriptor: CInt, _ handler: any EventHandler) throws(SystemError) -> WatchPlace {
    assert(isCurrent)
    // A task may outlive the loop.
    if hasEnded { throw .notOpen }
    let place = watched.insert(handler)
    do throws(SystemError) {
      try poller.add(descriptor, place.token)
    } catch {
      forget(place)
      throw error
    }
    return place
  }

  /// Releases the handler of a descriptor that is about to be closed. The system then removes the descriptor from its list by itself.
  /// Events of the descriptor that were found already are dropped.
  package func forget(_ place: WatchPlace) {
    assert(isCurrent)
    let handler = watched.remove(place)
    withExtendedLifetime(handler) {}
  }

  /// How many descriptors are watched, and how many timers are set.
  package var counts: (descriptors: Int, timers: Int) { (watched.count, timers.count) }

  private func drive() {
    ignoreBrokenPipesOnThisThread()
    setThreadObject(Unmanaged.passUnretained(self).toOpaque())
    while true {
      let isOver = guest?.wait(besides: poller.descriptor, milliseconds: waitingTime) ?? false
      let count = poller.wait(milliseconds: isOver ? 0 : waitingTime)
      now = .now
      // Commands that arrive from now on need no wake-up.
      _ = take(orAwait: false)
      for index in 0..<count {
        let (token, events) = poller.event(index)
        if token != Poller.wakeUpToken { watched.handler(of: token)?.isReady(events) }
      }
      TimerHeap.fire(upTo: now, of: self)
      guest?.turn()
      if !carryOutCommands() { break }
    }
    end()
  }

  /// Carries out the commands that have arrived, and those that they cause; returns false if the thread has to end.
  private func carryOutCommands() -> Bool {
    for _ in 0..<Self.maximumRounds {
      for command in taken { carryOut(command) }
      taken.removeAll(keepingCapacity: true)
      switch take(orAwait: true) {
      case .some(true): continue
      case .some(false): return true
      case nil: return false
      }
    }
    return true
  }

  private func carryOut(_ command: Command) {
    switch command {
    case .call(let body): body()
    case .run(let job): job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  /// Takes the commands that have arrived; returns whether there are any, and nil if there are none and none may follow.
  ///
  /// - Parameter awaits: if there are no commands, the next one wakes the thread up.
  private func take(orAwait awaits: Bool) -> Bool? {
    inbox.withLock { inbox in
      inbox.isAwaited = false
      // Commands of an earlier turn come first.
      guard taken.isEmpty else { return true }
      guard inbox.commands.isEmpty else {
        swap(&inbox.commands, &taken)
        return true
      }
      if inbox.isStopping { return nil }
      inbox.isAwaited = awaits
      return false
    }
  }

  /// How long to wait for an event: not at all if there are commands, otherwise until the earliest timer.
  private var waitingTime: Int32 {
    if !taken.isEmpty { return 0 }
    let earliest = timers.earliest
    guard earliest != .never else { return -1 }
    // The turn may have taken a while. Rounded up, or the loop would wake up before the timer is due, again and again.
    let left = max(0, earliest.nanoseconds - MonotonicTime.now.nanoseconds)
    return Int32(clamping: left / 1_000_000 + (left % 1_000_000 == 0 ? 0 : 1))
  }

  /// Releases everything, and carries out what is passed to the loop meanwhile.
  private func end() {
    hasEnded = true
    for handler in watched.removeAll() { handler.loopEnds() }
    for timer in timers.removeAll() { timer.loopEnds?() }
    serveLateJobs()
  }

  /// Runs the jobs of tasks that still prefer this executor, until there are none.
  private func serveLateJobs() {
    while true {
      let isServed = inbox.withLock { inbox in
        swap(&inbox.commands, &taken)
        inbox.isServed = !taken.isEmpty
        return inbox.isServed
      }
      guard isServed else { break }
      for command in taken { carryOut(command) }
      taken.removeAll()
    }
    setThreadObject(nil)
  }
}

/// What waits for descriptors of its own on a loop's thread. Its functions are called there.
package protocol LoopGuest: AnyObject, Sendable {
  /// Waits until one of its own descriptors is ready, or the given one, but no longer than the given time; -1 means without limit.
  /// Returns false, and waits for nothing, if it has no descriptors.
  func wait(besides descriptor: CInt, milliseconds: Int32) -> Bool

  /// Called after each wait, whichever descriptor ended it.
  func turn()
}

extension EventLoop: TaskExecutor {
  /// Runs a job of a task on the loop's thread. A task outlives the loop if it ends later, and then gets a thread for its job.
  package func enqueue(_ job: consuming ExecutorJob) {
    handOver(job) { job in
      let (wakesThread, needsThread) = inbox.withLock { inbox -> (Bool, Bool) in
        inbox.commands.append(.run(job))
        let isServed = inbox.isServed
        inbox.isServed = true
        defer { inbox.isAwaited = false }
        return (inbox.isAwaited, !isServed)
      }
      if wakesThread { poller.wakeUp() }
      if needsThread, !startThread(name, { [self] in serveLate() }) { serveLate() }
    }
  }

  private func serveLate() {
    let earlier = threadObject()
    setThreadObject(Unmanaged.passUnretained(self).toOpaque())
    serveLateJobs()
    setThreadObject(earlier)
  }
}
