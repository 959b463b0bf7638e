// Drains a form through FormInputStream, for the tests to watch from outside.
print("unused")
