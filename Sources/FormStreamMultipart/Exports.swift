/// For `SystemError`, the only public type of that module: errors of this one carry it.
@_exported public import FormStreamPlatform
