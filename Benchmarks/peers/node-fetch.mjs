// Posts files in a form with Node's fetch: `node node-fetch.mjs URL FILE...`. Node 19.8 or later reads them while it sends.
import { openAsBlob } from "node:fs";
import { basename } from "node:path";

const [url, ...files] = process.argv.slice(2);
const form = new FormData();
for (const path of files) {
  form.append("file", await openAsBlob(path, { type: "application/octet-stream" }), basename(path));
}
const response = await fetch(url, { method: "POST", body: form });
if (!response.ok) {
  console.error(`The server responded ${response.status}.`);
  process.exitCode = 1;
}
