"""Reads bodies with python-multipart, as Starlette and FastAPI do."""

import importlib.metadata
import io

import python_multipart

from reading import part, read_all


def read(body, content_type):
    parts = []

    def on_field(field):
        parts.append(part(field.field_name, field.value or b"", filename=None, type=field.content_type))

    def on_file(file):
        file.file_object.seek(0)
        parts.append(part(file.field_name, file.file_object.read(), filename=file.file_name,
                          type=file.content_type))

    python_multipart.parse_form({"Content-Type": content_type.encode()}, io.BytesIO(body),
                                on_field, on_file)
    return parts


read_all(f"python-multipart {importlib.metadata.version('python-multipart')}", "wire", read)
