import FormStreamTransfer

/// A session with the usual settings, that keeps its connections however slow the machine is: tests count them.
func patientSession() throws(TransferError) -> TransferSession {
  var configuration = TransferSession.Configuration()
  configuration.idleLimit = .seconds(600)
  return try TransferSession(configuration)
}
