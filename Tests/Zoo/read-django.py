"""Reads bodies as a Django view does: with `HttpRequest`."""

import io

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest

from reading import part, read_all

settings.configure(
    DATA_UPLOAD_MAX_MEMORY_SIZE=None, DATA_UPLOAD_MAX_NUMBER_FIELDS=None,
    DATA_UPLOAD_MAX_NUMBER_FILES=None)
django.setup()


def read(body, content_type):
    request = WSGIRequest({
        "REQUEST_METHOD": "POST", "CONTENT_TYPE": content_type, "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body)})
    parts = [part(name, value, filename=None)
             for name, values in request.POST.lists() for value in values]
    for name, files in request.FILES.lists():
        for file in files:
            # Django keeps the parameters of a type separately.
            extra = "".join(f"; {key}={value.decode()}"
                            for key, value in (file.content_type_extra or {}).items())
            parts.append(part(name, file.read(), filename=file.name, type=file.content_type + extra))
    return parts


read_all(f"Django {django.get_version()}", "by name", read)
