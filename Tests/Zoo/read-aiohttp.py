"""Reads bodies as the handler of an aiohttp server does: with `await request.multipart()`."""

import asyncio

import aiohttp
from aiohttp.base_protocol import BaseProtocol
from aiohttp.multipart import MultipartReader

from reading import part, read_all


async def read_parts(body, content_type):
    loop = asyncio.get_running_loop()
    stream = aiohttp.StreamReader(BaseProtocol(loop), 1 << 30, loop=loop)
    stream.feed_data(body)
    stream.feed_eof()
    parts = []
    async for found in MultipartReader({"Content-Type": content_type}, stream):
        if isinstance(found, MultipartReader):
            raise ValueError("a reader for a form within the form, not a part")
        parts.append(part(
            found.name, bytes(await found.read(decode=True)), filename=found.filename,
            type=found.headers.get("Content-Type"), headers=list(found.headers.items())))
    return parts


def read(body, content_type):
    return asyncio.run(read_parts(body, content_type))


read_all(f"aiohttp {aiohttp.__version__}", "wire", read)
