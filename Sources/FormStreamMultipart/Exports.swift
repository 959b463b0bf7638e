/// Exports `SystemError`, the only public type of that module: errors of this module contain it.
@_exported public import FormStreamPlatform
