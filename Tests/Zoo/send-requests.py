"""Sends forms with requests' `files=`."""

import requests

from sending import send_all

session = requests.Session()
session.trust_env = False


def send(url, parts):
    # A field is a file without a file name, so that all parts are in one list and keep their order.
    files = [(part["name"], (part["filename"], part["bytes"], part["type"])) for part in parts]
    session.post(url, files=files, timeout=20).raise_for_status()


send_all(f"requests {requests.__version__}", send)
