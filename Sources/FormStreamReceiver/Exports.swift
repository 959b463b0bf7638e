/// For what a handler is given: `Upload`, `PartSink`, `PartDescription` and `ReceivedPart`, which `parse` uses, too.
@_exported public import FormStreamIntake
