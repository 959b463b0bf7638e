/// A handler uses `Upload`, `PartSink`, `PartDescription` and `ReceivedPart`.
@_exported public import FormStreamIntake
