/// Handlers need these types of FormStreamIntake: `Upload`, `PartSink`, `PartDescription` and `ReceivedPart`.
@_exported public import FormStreamIntake
