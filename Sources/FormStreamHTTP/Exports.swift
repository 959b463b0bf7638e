// Users of FormStreamHTTP need the form model too: one import is enough.
@_exported public import FormStreamMultipart
