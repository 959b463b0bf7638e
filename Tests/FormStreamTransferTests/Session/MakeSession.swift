import FormStreamTransfer

/// A session with the default settings that keeps its connections even on a slow machine: tests count them.
func makeSession() throws(TransferError) -> TransferSession {
  var configuration = TransferSession.Configuration()
  configuration.idleLimit = .seconds(600)
  return try TransferSession(configuration)
}
