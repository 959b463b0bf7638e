// Sends forms with Node's fetch: FormData and Blob as in browsers.
import fs from "node:fs";
import path from "node:path";

const [directory, url] = process.argv.slice(2);
const forms = JSON.parse(fs.readFileSync(path.join(directory, "forms.json")));
console.log(JSON.stringify({ sender: `fetch of Node ${process.versions.node}` }));
for (const { case: name, parts } of forms) {
  const form = new FormData();
  for (const part of parts) {
    const bytes = Buffer.from(part.bytes, "base64");
    if (part.filename === null) form.append(part.name, bytes.toString());
    else form.append(part.name, new Blob([bytes], { type: part.type }), part.filename);
  }
  try {
    const response = await fetch(`${url}/${name}`, { method: "POST", body: form });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`status ${response.status}`);
  } catch (error) {
    console.log(JSON.stringify({ case: name, error: String(error.cause ?? error) }));
  }
}
