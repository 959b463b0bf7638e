// One import is enough to send a form, and to make one from Foundation's types.
@_exported public import FormStream
@_exported public import FormStreamHTTP
