"""Sends forms with aiohttp's `FormData`; with a third argument, `raw`, without the quoting that is not required."""

import asyncio
import sys

import aiohttp

from sending import send_all


RAW = sys.argv[3:] == ["raw"]


async def post(url, parts):
    form = aiohttp.FormData(quote_fields=not RAW, default_to_multipart=True)
    for part in parts:
        if part["filename"] is None:
            form.add_field(part["name"], part["bytes"].decode())
        else:
            form.add_field(part["name"], part["bytes"], filename=part["filename"],
                           content_type=part["type"])
    timeout = aiohttp.ClientTimeout(total=20)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        try:
            async with session.post(url, data=form) as response:
                response.raise_for_status()
        except aiohttp.ClientConnectionError as error:
            # Its text has the port, which differs each time.
            raise error.__cause__ or error


quoting = "quote_fields=False" if RAW else "quote_fields=True"
send_all(f"aiohttp {aiohttp.__version__} with {quoting}", lambda url, parts: asyncio.run(post(url, parts)))
