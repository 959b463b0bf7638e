"""Reads bodies as a Werkzeug or Flask application does: with `Request`."""

import importlib.metadata
import io

from werkzeug.wrappers import Request

from reading import part, read_all


class RoomyRequest(Request):
    max_form_memory_size = None
    max_form_parts = None


def read(body, content_type):
    request = RoomyRequest({
        "REQUEST_METHOD": "POST", "CONTENT_TYPE": content_type, "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body)})
    # Without this, a body that can't be read is an empty form instead of an error.
    request.make_form_data_parser = lambda: parser(request)
    parts = [part(name, value, filename=None) for name, value in request.form.items(multi=True)]
    for name, file in request.files.items(multi=True):
        headers = [(key, value) for key, value in file.headers.items()]
        parts.append(part(name, file.read(), filename=file.filename, type=file.content_type,
                          headers=headers))
    return parts


def parser(request):
    made = RoomyRequest.make_form_data_parser(request)
    made.silent = False
    return made


read_all(f"werkzeug {importlib.metadata.version('werkzeug')}", "by name", read)
