import FormStreamBatch

/// The arguments of `send` that no other command has.
struct SendingArguments {
  var ratePeriods: [RatePeriod] = []
  /// Nil if the run finds the number.
  var concurrency: Int?
  var fieldName: String?
  var requestRate: Double?
  var maximumFailures: Int?
  var minimumFiles: Int?
  var journal: Argument?
  var skipsDoubtful = false
  var sendsAll = false
  var comparesContents = false
  var resumesOnly = false
  var log: Argument?
  var map: Argument?
  var mappedValue: Argument?
  var filename: Argument?
  var puts = false
  var makesCollections = false
  var check: Argument?
  var filesPerRequest: Int?
  var bytesPerRequest: Int64?
  var sendsTogether = false
  var sliceSize: Int64?
}
