import FormStreamBatch
import FormStreamPlatform

/// Reads the files of `-K` again when SIGHUP arrives, and changes the limits of the run.
///
/// A terminal that is closed sends a SIGHUP, too. So if messages go to a terminal, SIGHUP ends the run, as usual.
final class ChangedLimits: Sendable {
  private let read: @Sendable () throws(Failure) -> LowArguments
  private let run = Guarded<BatchRun?>(nil)

  /// Nil if there is no file to read again.
  ///
  /// - Parameter read: reads the files and the arguments.
  init?(_ typed: LowArguments, _ read: @escaping @Sendable () throws(Failure) -> LowArguments) {
    guard typed.readsConfigFile, !typed.readsConfigFromStandardInput, !isTerminal(.error) else { return nil }
    self.read = read
  }

  /// The limits of this run are changed from here on.
  func apply(to run: BatchRun) { self.run.withLock { $0 = run } }

  /// Reads the files again.
  func reread() {
    guard let run = run.withLock(\.self) else { return }
    do throws(Failure) {
      run.change(try read().batchLimits)
    } catch {
      StandardError.note("The limits stay as they are: \(error.message)")
    }
  }
}

extension LowArguments {
  /// The limits that were typed.
  fileprivate var batchLimits: BatchLimits {
    var limits = BatchLimits()
    (limits.concurrency, limits.requestRate) = (sending.concurrency, sending.requestRate)
    (limits.maximumRate, limits.ratePeriods) = (request.options.maximumRate, sending.ratePeriods)
    return limits
  }
}
