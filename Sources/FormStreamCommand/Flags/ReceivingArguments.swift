/// The arguments of `receive` that no other command has.
struct ReceivingArguments {
  var listen = Argument("127.0.0.1:8080")
  var isOnce = false
  var certificate: Argument?
  var key: Argument?
  var minimumRate: Int?
  var headTime: Duration?
  var responseTime: Duration?
  var connections: Int?
  var connectionsPerAddress: Int?
  var keepsPaths = false
  var overwrites = false
  var synchronizes = false
  var makesDigests = true
  var isResumable = true
  var maximumStore: Int64?
  var uploadAge: Duration?
  var response = ChosenResponse()
}
