import FormStreamPlatform
import FormStreamTestSupport

extension ScriptedServer {
  /// A server that responds to each file as its name says: with a status, or with none if it is 0. The name "*" is that of all
  /// other files; without it, they get 200.
  convenience init(byName statuses: Guarded<[String: Int]>) throws {
    try self.init { _ in
      [
        .readBody,
        .decide { request in
          let name = SentFile(lastPartOf: request).map { String(decoding: $0.name, as: UTF8.self) }
          switch statuses.withLock({ $0[name ?? ""] ?? $0["*"] }) {
          case 0: return [.reset]
          case let status: return [.respond(status ?? 200)]
          }
        },
      ]
    }
  }
}
