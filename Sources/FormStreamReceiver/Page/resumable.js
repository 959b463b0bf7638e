
// Large files are sent by tus 1.0.0: the receiver confirms each piece, and keeps what has arrived. After a break the page asks
// how much has arrived, and sends the rest. A small file is sent as a form: that takes one request instead of four, and sending
// the file again costs little.
const leastSize = Number(form.dataset.resumable ?? Infinity), MiB = 1024 * 1024;
const isResumable = item => item.file.size >= leastSize;
const confirmedShare = item => item.upload ? Math.min(item.upload.confirmed / item.file.size, 0.99) : 0;
const arrivedSoFar = item => Math.floor(100 * confirmedShare(item)) + "% has arrived.";
// Statuses that pass, and statuses after which the upload is still there.
const passing = [408, 409, 425, 429, 502, 503, 504], keeping = [401, 403, 507];

// What ends the sending of a file, with what is shown then.
class End { constructor(...shown) { this.shown = shown; } }
const unreadable = new End("failed", 0, unreadableText);
// What interrupts it, with what is shown until it goes on. The server may say how long to wait.
class Break {
  constructor(seconds, text) {
    this.delay = 1000 * (Number(seconds) || 0);
    this.text = text ?? "Waiting for the " + (navigator.onLine ? "receiver" : "network") + ": the upload goes on by itself.";
  }
}
// The receiver has no room for what it must keep, but it may have room for the file.
const asForm = Symbol();

async function sendResumably(item) {
  const run = item.request = { abort() { this.isStopped = true; this.controller?.abort(); item.wake?.(); } };
  let delay = 500;
  showSending(item);
  for (;;) {
    const before = item.upload?.confirmed ?? 0;
    let outcome = await sendRest(item, run).catch(error => error);
    if (run.isStopped) return;
    if (outcome === asForm) { forget(item); return sendAsForm(item); }
    // If everything was sent, only the receiver knows whether the file arrived.
    if (outcome instanceof Break && item.upload?.sent !== item.file.size && !(await isUnchanged(item))) outcome = unreadable;
    if (run.isStopped) return;
    if (outcome === unreadable) discard(item);
    if (outcome instanceof End) { show(item, ...outcome.shown); return next(); }
    if (!(outcome instanceof Break)) throw outcome;
    show(item, "interrupted", confirmedShare(item), outcome.text + " " + arrivedSoFar(item));
    next();
    if ((item.upload?.confirmed ?? 0) > before) delay = 500;
    await new Promise(resolve => { item.wake = resolve; setTimeout(resolve, Math.max(delay, outcome.delay)); });
    if (run.isStopped) return;
    delay = Math.min(2 * delay, 30_000);
  }
}

// Only what the receiver has confirmed counts: what the browser has handed to the system may be lost.
const showSending = item =>
  show(item, "sending", confirmedShare(item), "Sending " + bytes(item.file.size) + ": " + arrivedSoFar(item));

async function sendRest(item, run) {
  const file = item.file, isNew = !item.upload && !(await recall(item, run));
  if (isNew) await create(item, run);
  let offset = isNew ? 0 : await confirmedOffset(item, run);
  let piece = MiB;
  for (;;) {
    if (item.state !== "sending") { showSending(item); next(); }
    // For each piece the browser opens the file, and refuses a file that has changed since it was chosen. While it reads a
    // piece it doesn't look. So the last piece is short: a file that changes before it is never completed.
    const last = Math.max(0, file.size - 65536), end = offset < last ? Math.min(offset + piece, last) : file.size;
    const isLast = end === file.size;
    if (isLast && offset < end && !(await isUnchanged(item))) throw unreadable;
    if (run.isStopped) throw new Break();
    item.upload.sent = Math.max(item.upload.sent, end);
    remember(item);
    if (isLast) show(item, "sent", 0.99, "Sent. The server has not responded yet.");
    const start = performance.now();
    const response = await call(run, "PATCH", item.upload.url, {
      "Content-Type": "application/offset+octet-stream", "Upload-Offset": offset }, file.slice(offset, end));
    if (response.status !== 204) await refuse(item, response);
    if (Number(response.headers.get("Upload-Offset")) !== end) throw wrongOffset(item, response);
    if (isLast) return stored(item, response);
    // A piece takes about two seconds, so that the bar moves, and waiting for each response costs little.
    piece = Math.max(MiB / 4, Math.round(2000 * (end - offset) / (performance.now() - start)));
    confirm(item, response, offset = end);
    showSending(item);
  }
}

// `fetch` refuses a URL with a password, which the page's own URL may have.
const urlHere = path => new URL(path, location.origin).href;

async function create(item, run) {
  const file = item.file, encoded = text => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
  // The receiver would read a file whose type is that of a form as a form.
  const type = file.type && !file.type.startsWith("multipart/") ? file.type : "application/octet-stream";
  const response = await call(run, "POST", urlHere("/"), { Accept: "application/json", "Upload-Length": file.size,
    "Upload-Metadata": "filename " + encoded(item.path) + ",filetype " + encoded(type) });
  // The uploads that are kept have no room for the file, now (503, 507) or ever (413). A form needs none of that room.
  if ([413, 503, 507].includes(response.status) && response.headers.has("Upload-Complete")) throw asForm;
  if (response.status !== 201) await refuse(item, response);
  item.upload = { url: urlHere(response.headers.get("Location")), path: item.path, sent: 0 };
  confirm(item, response, 0);
}

async function confirmedOffset(item, run) {
  const response = await call(run, "HEAD", item.upload.url, {});
  if (!response.ok) await refuse(item, response);
  const offset = Number(response.headers.get("Upload-Offset") ?? NaN);
  if (!(offset >= item.upload.confirmed && offset <= item.upload.sent)) throw wrongOffset(item, response);
  confirm(item, response, offset);
  return offset;
}

function confirm(item, response, offset) {
  item.upload.confirmed = offset;
  item.upload.expires = Date.parse(response.headers.get("Upload-Expires")) || item.upload.expires;
  remember(item);
}

// Another window that sends the same file may go on with the upload, so it is not removed.
function wrongOffset(item, response) {
  const upload = item.upload;
  forget(item);
  return new End("failed", 0, "The receiver says that it has " + bytes(Number(response.headers.get("Upload-Offset"))) +
    " of the file. It can't: it had confirmed " + bytes(upload.confirmed) + ", and this page has sent " +
    bytes(upload.sent) + ". Retry sends the file from its beginning.");
}

// A request that takes a minute is ended: after the network has changed, a connection may stay silent for much longer. What has
// arrived is not lost.
async function call(run, method, url, headers, body) {
  if (run.isStopped) throw new Break();
  const controller = run.controller = new AbortController(), timer = setTimeout(() => controller.abort(), 60_000);
  try {
    const response = await fetch(url, { method, body, headers: { "Tus-Resumable": "1.0.0", ...headers },
      cache: "no-store", redirect: "error", signal: controller.signal });
    // A network that asks for a login may respond in place of the receiver.
    if (response.ok && !response.headers.has("Tus-Resumable")) throw new Break();
    return response;
  } catch {
    throw new Break();
  } finally {
    clearTimeout(timer);
  }
}

// Throws what a response means that is no success.
async function refuse(item, response) {
  const status = response.status, isOurs = response.headers.has("Tus-Resumable"), upload = item.upload;
  if (passing.includes(status)) throw new Break(response.headers.get("Retry-After"));
  if (isOurs && !keeping.includes(status)) forget(item);
  if (upload && isOurs && (status === 404 || status === 410)) {
    if (upload.sent < item.file.size) {
      throw new Break(0, "The receiver no longer has what had arrived: the upload begins again.");
    }
    throw new End("unknown", 0, "The receiver no longer knows the upload, and the end of the file had been sent: " +
      "it is not known whether the file arrived.");
  }
  const isUnknown = status >= 500 && response.headers.get("Upload-Complete") === "?1";
  throw new End(isUnknown ? "unknown" : "failed", 0,
    await reason(response) || "The server refused the file with status " + status + ".");
}

async function reason(response) {
  const text = await response.text().catch(() => ""), type = response.headers.get("Content-Type") ?? "";
  if (type.startsWith("text/plain")) return visible(text.trim());
  try {
    const record = JSON.parse(text);
    return visible(record.error?.message ?? record.title ?? "");
  } catch { return ""; }
}

// The last response has no body. The record is in a header.
function stored(item, response) {
  const record = response.headers.get("Upload-Record");
  forget(item);
  return new End(...record === null ? arrival(item, { size: item.file.size })
    : result(item, 200, new TextDecoder().decode(Uint8Array.from(atob(record), byte => byte.charCodeAt(0)))));
}

function pause(item) {
  item.request.abort();
  show(item, "paused", confirmedShare(item), "Paused. " + arrivedSoFar(item));
}

function discard(item) {
  const url = item.upload?.url;
  forget(item);
  if (url) cancelUpload(url);
}

// A receiver that can't be reached removes the upload after some time.
function cancelUpload(url) {
  fetch(url, { method: "DELETE", headers: { "Tus-Resumable": "1.0.0" }, keepalive: true }).catch(() => {});
}

window.addEventListener("online", () => { for (const item of items) item.wake?.(); });
