/// Exports `SystemError`, which errors of this module contain, and `SHA256Digest`: the only public types of that module.
@_exported public import FormStreamPlatform
