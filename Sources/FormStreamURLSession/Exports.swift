// Who sends forms needs the model to make them: one import is enough.
@_exported public import FormStream
