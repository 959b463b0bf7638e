import FormStream
import FormStreamTransfer
import Foundation

func watch(_ request: TransferRequest, in session: TransferSession) async {
  let task = session.start(request)  // pause(), resume(), cancel(); id, request, state
  for await progress in task.progress {  // begins with the current state
    print(progress.phase.rawValue, progress.handedOver, progress.total ?? "unknown")
  }
  print(await task.result.outcome)
}

func upload(
  _ request: TransferRequest, in session: TransferSession, show: @escaping @Sendable (Double?) -> Void
) async -> TransferResult {
  let result = await session.result(of: request) { progress in
    show(progress.fraction)  // nil if the length is not known
  }
  return result
}

func showAll(_ session: TransferSession, show: (Double?) -> Void) {
  for task in session.tasks { show(task.progress.current.fraction) }
  for task in session.downloads { show(task.progress.current.responseFraction) }
}
