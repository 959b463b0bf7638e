// Users need the form model too: one import is enough.
@_exported public import FormStream
