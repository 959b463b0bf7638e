// Shows what the bare loop costs: requests over kept connections, without HTTP.
//
//   formstream-loop-probe serve SIZE
//
// listens at a port of 127.0.0.1, prints the port, and answers after each SIZE bytes of a connection, until its input ends.
//
//   formstream-loop-probe post PORT SIZE COUNT CONNECTIONS [checked]
//
// sends COUNT requests of SIZE bytes over that many connections, and prints how many requests a second that were, and the processor
// time of each in microseconds. With `checked`, each kept connection is looked at before it is used, and the system is asked whether the
// request was acknowledged, as the client does.
//
//   formstream-loop-probe loops COUNT
//
// starts and stops that many loops with open sockets, and prints what is left of them.
//
//   formstream-loop-probe full
//
// listens with no descriptor left for a connection that waits, and prints why it isn't accepted, how often the loop has reported it
// meanwhile, and whether it is accepted once a descriptor is free.
import FormStreamNet
import FormStreamPlatform
import Glibc

enum Response {
  static let bytes = Array(
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nServer: probe\r\nDate: Sun, 29 Nov 2026 03:00:00 GMT\r\n\r\n".utf8)
}

func stopWith(_ message: String) -> Never {
  var bytes = Array("\(message)\n".utf8)
  write(2, &bytes, bytes.count)
  exit(1)
}

/// One connection of the server.
final class Served: SocketUser {
  private let size: Int
  private var missing: Int
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

  init(_ size: Int) { (self.size, missing) = (size, size) }

  deinit { buffer.deallocate() }

  func isReady(_ socket: WatchedSocket) {
    do {
      while true {
        switch try socket.read(into: buffer) {
        case .nothing: return
        case .end: return socket.close()
        case .bytes(let count):
          missing -= count
          while missing <= 0 {
            missing += size
            guard try Response.bytes.withUnsafeBytes({ try socket.write($0) }) == Response.bytes.count
            else { stopWith("A client reads no responses.") }
          }
        }
      }
    } catch { socket.close() }
  }

  func loopEnds(_ socket: WatchedSocket) {}
}

/// The listening socket of the server.
final class Accepting: EventHandler {
  private let loop: EventLoop
  private let listener: Listener
  private let size: Int

  init(_ listener: Listener, _ loop: EventLoop, _ size: Int) { (self.listener, self.loop, self.size) = (listener, loop, size) }

  func isReady(_ events: Readiness) {
    do throws(SystemError) {
      while let (socket, _) = try listener.accept() { _ = try WatchedSocket(socket, on: loop, for: Served(size)) }
    } catch { stopWith("The server can't accept a connection: \(error).") }
  }

  func loopEnds() {}
}

/// The requests that are still to be sent; used on the loop's thread only.
final class Requests: @unchecked Sendable {
  var unsent: Int
  var unanswered: Int
  let size: Int
  let isChecked: Bool
  let ended: AutoResetEvent

  init(_ count: Int, _ size: Int, isChecked: Bool, _ ended: AutoResetEvent) {
    (unsent, unanswered, self.size, self.isChecked, self.ended) = (count, count, size, isChecked, ended)
  }
}

/// One connection of the client.
final class Posting: SocketUser {
  private let requests: Requests
  private let head: [UInt8]
  private let body: [UInt8]
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
  private var missing = 0
  private let limit: LoopTimer

  init(_ requests: Requests, _ loop: EventLoop) {
    self.requests = requests
    head = [UInt8](repeating: UInt8(ascii: "h"), count: 200)
    body = [UInt8](repeating: UInt8(ascii: "b"), count: requests.size - 200)
    limit = LoopTimer(on: loop) { stopWith("A response did not come.") }
  }

  deinit { buffer.deallocate() }

  func isReady(_ socket: WatchedSocket) {
    do {
      while missing > 0 {
        switch try socket.read(into: buffer) {
        case .nothing: return
        case .end: stopWith("The server has ended a connection.")
        case .bytes(let count):
          missing -= count
          if missing > 0 { continue }
          if requests.isChecked, socket.unacknowledgedBytes == nil { stopWith("Nothing is known of a connection.") }
          requests.unanswered -= 1
          if requests.unanswered == 0 { requests.ended.signal() }
        }
      }
      try send(over: socket)
    } catch { stopWith("A connection broke: \(error).") }
  }

  private func send(over socket: WatchedSocket) throws {
    guard requests.unsent > 0 else { return limit.cancel() }
    requests.unsent -= 1
    missing = Response.bytes.count
    if requests.isChecked, socket.hasInput() { stopWith("Something came unasked.") }
    let count = try head.withUnsafeBytes { head in
      try body.withUnsafeBytes { body in try socket.write(head, body) }
    }
    guard count == requests.size else { stopWith("The system took only a part of a request.") }
    limit.set(after: .seconds(60))
  }

  func loopEnds(_ socket: WatchedSocket) {}
}

func post(to address: SocketAddress, _ requests: Requests, connections: Int) throws(SystemError) {
  let loop = try EventLoop()
  loop.post {
    for _ in 0..<connections {
      let connecting = Connecting(to: [address], on: loop) { result in
        switch result {
        case .success(let socket):
          let posting = Posting(requests, loop)
          socket.user = posting
          posting.isReady(socket)
        case .failure(let failure): stopWith("\(failure)")
        }
      }
      connecting.start(within: .seconds(10))
    }
  }
  requests.ended.wait(atMost: nil)
  loop.stop()
  loop.waitUntilStopped()
}

func processorTime() -> Double {
  var usage = rusage()
  getrusage(RUSAGE_SELF.rawValue, &usage)
  return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
    + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000_000
}

/// The entries of a directory of this process in `/proc`.
func entries(_ name: String) -> [String] {
  guard let directory = opendir("/proc/self/\(name)") else { return [] }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    if !name.hasPrefix(".") { names.append(name) }
  }
  return names
}

/// How many threads of loops there are. The thread sanitizer has one of its own.
func loopThreads() -> Int {
  entries("task").filter { number in
    guard let file = fopen("/proc/self/task/\(number)/comm", "re") else { return false }
    defer { fclose(file) }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { line in
      line.initialize(repeating: 0)
      guard let start = line.baseAddress, fgets(start, 64, file) != nil else { return false }
      return String(cString: start) == "formstream-net\n"
    }
  }.count
}

/// Starts a loop that serves one connection to itself, and returns how many descriptors another program would inherit meanwhile.
func useLoop(_ local: SocketAddress, besides inherited: [String]) throws -> Int {
  let loop = try EventLoop()
  let listener = try Listener(at: local)
  let begun = AutoResetEvent()
  loop.post {
    do { _ = try loop.watch(listener.number, Accepting(listener, loop, 1)) } catch { stopWith("\(error)") }
    let connecting = Connecting(to: [listener.address], on: loop) { result in
      guard case .success(let socket) = result else { stopWith("There is no connection.") }
      let requests = Requests(1, 300, isChecked: true, begun)
      let posting = Posting(requests, loop)
      socket.user = posting
      posting.isReady(socket)
    }
    connecting.start(within: .seconds(10))
  }
  begun.wait(atMost: nil)
  let inheritable = entries("fd").filter { !inherited.contains($0) }.compactMap { CInt($0) }
    .filter { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 }
  loop.stop()
  loop.waitUntilStopped()
  // The directory that was read above is closed by now.
  return inheritable.filter { fcntl($0, F_GETFD) >= 0 }.count
}

/// Counts what a loop reports, and accepts nothing.
final class Counting: EventHandler, Sendable {
  let count = Guarded(0)

  func isReady(_ events: Readiness) { count.withLock { $0 += 1 } }

  func loopEnds() {}
}

/// Returns once the loop has looked at its descriptors that many times.
func letTurn(_ loop: EventLoop, times: Int) {
  let turned = AutoResetEvent()
  for _ in 0..<times {
    loop.post { turned.signal() }
    turned.wait(atMost: nil)
  }
}

func acceptWithoutDescriptors(at local: SocketAddress) throws -> String {
  let (loop, listener, counting) = (try EventLoop(), try Listener(at: local), Counting())
  let client = try Socket(.ipv4)
  loop.post { do { _ = try loop.watch(listener.number, counting) } catch { stopWith("\(error)") } }
  letTurn(loop, times: 1)
  _ = try client.connect(to: listener.address)
  counting.count.waitUntil({ $0 > 0 }) { _ in }
  var limit = rlimit(rlim_cur: 64, rlim_max: 64)
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  var others: [Socket] = []
  while let other = try? Socket(.ipv4) { others.append(other) }
  var reason = "none"
  do throws(SystemError) { _ = try listener.accept() } catch { reason = error.description }
  letTurn(loop, times: 50)
  others.removeLast()
  let isAccepted = try listener.accept() != nil
  let events = counting.count.withLock { $0 }
  loop.stop()
  loop.waitUntilStopped()
  return "\(reason), \(events) event, then \(isAccepted ? "accepted" : "nothing")"
}

let words = CommandLine.arguments.dropFirst()
let numbers = words.compactMap { Int($0) }
switch words.first {
case "serve" where numbers.count == 1:
  guard let local = SocketAddress("127.0.0.1", port: 0) else { stopWith("127.0.0.1 is no address.") }
  let listener = try Listener(at: local)
  let loop = try EventLoop()
  loop.post {
    do { _ = try loop.watch(listener.number, Accepting(listener, loop, numbers[0])) } catch { stopWith("\(error)") }
  }
  var line = Array("\(listener.address.port ?? 0)\n".utf8)
  write(1, &line, line.count)
  while getchar() != EOF {}
  loop.stop()
  loop.waitUntilStopped()
case "post" where numbers.count == 4 && numbers[1] > 200:
  guard let server = UInt16(exactly: numbers[0]).flatMap({ SocketAddress("127.0.0.1", port: $0) })
  else { stopWith("\(numbers[0]) is no port.") }
  let requests = Requests(numbers[2], numbers[1], isChecked: words.last == "checked", AutoResetEvent())
  let (begin, processorBegin) = (ContinuousClock.now, processorTime())
  try post(to: server, requests, connections: numbers[3])
  let time = (ContinuousClock.now - begin) / .seconds(1)
  let used = (processorTime() - processorBegin) / Double(numbers[2])
  print("\(Int(Double(numbers[2]) / time)) requests/s, \((used * 10_000_000).rounded() / 10) us")
case "loops" where numbers.count == 1:
  guard let local = SocketAddress("127.0.0.1", port: 0) else { stopWith("127.0.0.1 is no address.") }
  let inherited = entries("fd")
  var inheritable = 0
  for _ in 0..<numbers[0] { inheritable += try useLoop(local, besides: inherited) }
  // A thread has ended, and released the loop, a moment after it says so.
  let end = ContinuousClock.now + .seconds(20)
  while loopThreads() > 0 || entries("fd").count > inherited.count, ContinuousClock.now < end { sched_yield() }
  let left = (entries("fd").count - inherited.count, loopThreads())
  var line = Array("\(left.0) descriptors and \(left.1) threads left, \(inheritable) descriptors inheritable\n".utf8)
  write(1, &line, line.count)
case "full":
  guard let local = SocketAddress("127.0.0.1", port: 0) else { stopWith("127.0.0.1 is no address.") }
  print(try acceptWithoutDescriptors(at: local))
default:
  stopWith("usage: formstream-loop-probe full | loops COUNT | serve SIZE | post PORT SIZE COUNT CONNECTIONS [checked]")
}
