/// The limits of a batch that can be changed while it is sent.
public struct BatchLimits: Hashable, Sendable {
  /// How many requests are sent at the same time; nil if the run finds the number itself. See ``Batch/concurrency``.
  public var concurrency: Int?
  /// How many requests may begin in a second; nil for no limit. See ``Batch/requestRate``.
  public var requestRate: Double?
  /// The largest rate of all requests together, in bytes a second; nil for no limit.
  public var maximumRate: Int64?
  /// Other rates for times of the day; see ``Batch/ratePeriods``.
  public var ratePeriods: [RatePeriod] = []

  /// No limits: the run finds the number of requests itself.
  public init() {}
}

extension Batch {
  /// The limits of the batch, with which a run begins.
  public var limits: BatchLimits {
    get {
      var limits = BatchLimits()
      (limits.concurrency, limits.requestRate) = (concurrency, requestRate)
      (limits.maximumRate, limits.ratePeriods) = (request.options.maximumRate, ratePeriods)
      return limits
    }
    set {
      (concurrency, requestRate) = (newValue.concurrency, newValue.requestRate)
      (request.options.maximumRate, ratePeriods) = (newValue.maximumRate, newValue.ratePeriods)
    }
  }
}
