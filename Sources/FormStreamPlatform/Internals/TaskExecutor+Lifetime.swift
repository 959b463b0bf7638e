extension TaskExecutor {
  /// Hands over a job, and keeps this executor alive until the job is handed over.
  ///
  /// The runtime calls `enqueue` with a reference that it doesn't own. As soon as another thread has the job, the task may
  /// end and release the last reference, while this thread still uses the executor's lock.
  package func handOver(
    _ job: consuming ExecutorJob, _ pass: (UnownedJob) -> Void
  ) {
    // `withExtendedLifetime` is no help: the compiler assumes that the caller owns `self`, and would omit the retain.
    let executor = Unmanaged.passRetained(self)
    defer { executor.release() }
    pass(UnownedJob(job))
  }
}
