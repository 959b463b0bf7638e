import FormStreamPlatform
import FormStreamTestSupport
import Glibc

extension [ScriptedStep] {
  /// Kills a process when the request is complete and has no response. The number of the process is set right after it was
  /// started.
  static func killing(_ pid: Guarded<Int32>) -> Self {
    [
      .readBody,
      .call {
        while pid.withLock({ $0 }) == 0 { usleep(100) }
        kill(pid.withLock { $0 }, SIGKILL)
      }, .stall,
    ]
  }
}
