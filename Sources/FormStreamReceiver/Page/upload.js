"use strict";
// "Sent" is not "arrived": a bar is full only after the server has responded that it has the file, with as many bytes
// as the file has.
const find = (selector, root = document) => root.querySelector(selector);
const form = find("form"), input = find("#file"), zone = find("label"), folder = find("#folder"), items = [];
const limit = Number(form.dataset.limit ?? Infinity), left = { empty: 0, unreadable: 0 };
const isInProgress = item => item.state === "sending" || item.state === "sent";
const isOpen = item => item.state === "waiting" || isInProgress(item);
const isTooLarge = item => item.file.size > limit;
const isFailed = item => !isTooLarge(item) && (item.state === "failed" || item.state === "unknown");
const some = (count, name) => count.toLocaleString("en") + " " + name + (count === 1 ? "" : "s");
const bytes = count => some(count, "byte");
// Characters that are invisible or change the direction of writing are spelled out, as by the command.
const hidden = /(?![\u200c\u200d\p{VS}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;
const visible = text => String(text).replace(hidden, character =>
  "\\u{" + character.codePointAt(0).toString(16).toUpperCase() + "}");

// A file of a folder has a path, which is its file name in the request.
function add(file, path = file.webkitRelativePath || file.name) {
  const row = find("template").content.firstElementChild.cloneNode(true), name = visible(path);
  const item = { file, path, name, row, bar: find("progress", row), button: find("button", row) };
  find("bdi", row).textContent = name;
  item.bar.setAttribute("aria-label", "Progress of " + name);
  item.button.onclick = () => { isOpen(item) ? cancel(item) : wait(item); next(); };
  find("ul").append(row);
  items.push(item);
  wait(item);
}

function show(item, state, value, ...details) {
  if (state === "arrived" && document.activeElement === item.button) {
    item.row.tabIndex = -1;
    item.row.focus();
  }
  item.row.className = item.state = state;
  item.bar.value = value;
  item.bar.hidden = item.button.hidden = false;
  if (state === "arrived") item.button.hidden = true; else item.bar.hidden = !isOpen(item);
  if (isTooLarge(item)) item.button.hidden = true;
  item.button.textContent = isOpen(item) ? "Cancel" : isFailed(item) ? "Retry" : "Send again";
  item.button.setAttribute("aria-label", item.button.textContent + " " + item.name);
  find("progress + p", item.row).replaceChildren(...details);
}

const wait = item => isTooLarge(item)
  ? show(item, "failed", 0, "Not sent: the file has " + bytes(item.file.size) + ", and " + bytes(limit) + " is the limit.")
  : show(item, "waiting", 0, "Waiting.");

function send(item) {
  const request = item.request = new XMLHttpRequest(), body = new FormData();
  const sending = share => show(item, "sending", share, "Sending " + bytes(item.file.size) +
    ": " + Math.floor(100 * share) + "%");
  const end = (...shown) => { show(item, ...shown); next(); };
  body.append("file", item.file, item.path);
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.upload.onprogress = event => sending(Math.min(event.loaded / event.total, 0.99));
  request.upload.onload = () => show(item, "sent", 0.99, "Sent. The server has not responded yet.");
  request.onload = () => end(...result(item, request));
  request.onerror = async () => {
    // A file that can't be read was not sent completely; any other may have been. If the file is gone, Chromium reads a
    // slice of it as no bytes, without an error.
    const state = item.state, piece = item.file.size ? item.file.slice(0, 1) : item.file;
    const isThere = await piece.arrayBuffer().then(read => read.byteLength === piece.size, () => false);
    if (item.request !== request || item.state !== state) return;
    if (isThere || state !== "sending") {
      end("unknown", 0, "The connection broke: it is not known whether the file arrived.");
    } else {
      end("failed", 0, "The file can't be read: it is gone, was changed, or is a folder. Choose it again.");
    }
  };
  sending(0);
  request.send(body);
}

function result(item, request) {
  const isGood = request.status >= 200 && request.status < 300;
  let record = null;
  try { record = JSON.parse(request.responseText); } catch { /* Not from our server: handled below. */ }
  const part = record?.parts?.[0], name = document.createElement("bdi");
  if (record?.error) return ["failed", 0, visible(record.error.message)];
  if (isGood && record?.complete === true && part?.size === item.file.size) {
    name.textContent = visible(part.stored_as ?? "");
    find("code", item.row).textContent = part.sha256 ? "SHA-256 " + visible(part.sha256) : "";
    return part.stored_as ? ["arrived", 1, "Stored as ", name, ", " + bytes(part.size)]
      : ["arrived", 1, "The server received " + bytes(part.size) + ", and reports no name for the file."];
  }
  return request.status >= 400 && request.status < 500
    ? ["failed", 0, "The server refused the file with status " + request.status + "."]
    : ["unknown", 0, "The response, with status " + request.status + ", does not say whether the file arrived."];
}

function cancel(item) {
  const details = item.state === "waiting" ? "Cancelled before sending."
    : item.state === "sending" ? "Cancelled while sending."
    : "Cancelled too late to know whether it arrived.";
  item.request?.abort();
  show(item, "cancelled", 0, details);
}

function next() {
  let room = 2 - items.filter(isInProgress).length;
  for (const item of items) if (room > 0 && item.state === "waiting") { room -= 1; send(item); }
  const count = (state, text) => {
    const number = items.filter(item => item.state === state).length;
    return number ? ", " + number + " " + text : "";
  };
  const arrived = items.filter(item => item.state === "arrived").length;
  find("#status").textContent = arrived + " of " + items.length + " arrived" + count("failed", "failed") +
    count("unknown", "unknown") + count("cancelled", "cancelled") +
    (left.empty ? ", " + some(left.empty, "empty folder") + " left out" : "") +
    (left.unreadable ? ", " + some(left.unreadable, "unreadable path") + " left out" : "") + ".";
  find("#retry").hidden = !items.some(isFailed);
  find("#cancel").hidden = !items.some(isOpen);
}

function addAll(files) { for (const file of files) add(file); if (files.length) next(); }

// The files of a folder are found one after another: a browser lists at most some of them at a time.
async function addEntry(entry) {
  if (entry.isFile) {
    await new Promise((resolve, reject) => entry.file(resolve, reject))
      .then(file => add(file, entry.fullPath.slice(1)), () => left.unreadable += 1);
    return next();
  }
  const reader = entry.createReader();
  let count = 0;
  for (;;) {
    const found = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)).catch(() => null);
    if (found === null) { left.unreadable += 1; break; }
    if (!found.length) { if (!count) left.empty += 1; break; }
    count += found.length;
    for (const each of found) await addEntry(each);
  }
  next();
}

async function addDropped(data) {
  // They are gone when the event is over.
  const files = [...data.files], entries = [...data.items].map(item => item.webkitGetAsEntry()).filter(entry => entry);
  if (folder && entries.some(entry => entry.isDirectory)) for (const entry of entries) await addEntry(entry);
  else addAll(files);
}

for (const label of document.querySelectorAll("label")) label.classList.add("live");
find("#drop").hidden = false;
if (find("#each")) find("#each").textContent = "each file";
for (const button of document.querySelectorAll("form button")) button.hidden = true;
find("#retry").onclick = () => { items.filter(isFailed).forEach(wait); next(); };
find("#cancel").onclick = () => { items.filter(isOpen).forEach(cancel); next(); };
for (const field of folder ? [input, folder] : [input]) {
  field.onchange = () => { addAll([...field.files]); field.value = ""; };
  field.form.onsubmit = event => event.preventDefault();
}
// A file that is dropped beside the zone would replace the page.
for (const kind of ["dragover", "dragleave", "drop"]) document.addEventListener(kind, event => {
  event.preventDefault();
  zone.classList.toggle("over", kind === "dragover");
  if (kind === "drop") addDropped(event.dataTransfer);
});
window.addEventListener("beforeunload", event => { if (items.some(isOpen)) event.preventDefault(); });
