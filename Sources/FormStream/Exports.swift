// Who imports FormStream has the whole model: one import is enough.
@_exported public import FormStreamMultipart
