// Whoever sends a batch needs requests, sessions and parts, too.
@_exported public import FormStreamHTTP
