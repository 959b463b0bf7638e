"use strict";
// "Sent" is not "arrived": a bar is full only after the server has responded that it has the file, with as many bytes
// as the file has.
const find = (selector, root = document) => root.querySelector(selector);
const form = find("form"), input = find("#file"), zone = find("label"), folder = find("#folder"), items = [];
const limit = Number(form.dataset.limit ?? Infinity), left = { empty: 0, unreadable: 0 };
const isInProgress = item => ["sending", "sent", "interrupted"].includes(item.state);
const isOpen = item => item.state === "waiting" || item.state === "paused" || isInProgress(item);
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
  const item = { file, path, name, row, bar: find("progress", row), button: find("button", row),
    pauseButton: find(".pause", row), size: file.size, date: file.lastModified };
  find("bdi", row).textContent = name;
  item.bar.setAttribute("aria-label", "Progress of " + name);
  item.button.onclick = () => { isOpen(item) ? cancel(item) : wait(item); next(); };
  item.pauseButton.onclick = () => {
    if (item.state === "interrupted") item.wake(); else item.state === "paused" ? wait(item) : pause(item);
    next();
  };
  find("ul").append(row);
  items.push(item);
  wait(item);
}

function show(item, state, value, ...details) {
  const focused = document.activeElement;
  item.row.className = item.state = state;
  item.bar.value = value;
  item.bar.hidden = item.button.hidden = false;
  if (state === "arrived") item.button.hidden = true; else item.bar.hidden = !isOpen(item);
  if (isTooLarge(item)) item.button.hidden = true;
  item.button.textContent = isOpen(item) ? "Cancel" : isFailed(item) ? "Retry" : "Send again";
  item.pauseButton.hidden = !isResumable(item) || !["sending", "interrupted", "paused"].includes(state);
  item.pauseButton.textContent = state === "paused" ? "Continue" : state === "interrupted" ? "Try now" : "Pause";
  for (const button of [item.button, item.pauseButton]) button.setAttribute("aria-label", button.textContent + " " + item.name);
  // The focus of a button that goes would be lost.
  if (focused.hidden && item.row.contains(focused)) {
    item.row.tabIndex = -1;
    (item.button.hidden ? item.row : item.button).focus();
  }
  find("progress + p", item.row).replaceChildren(...details);
}

const wait = item => isTooLarge(item)
  ? show(item, "failed", 0, "Not sent: the file has " + bytes(item.file.size) + ", and " + bytes(limit) + " is the limit.")
  : show(item, "waiting", confirmedShare(item), "Waiting.");

const send = item => isResumable(item) ? sendResumably(item) : sendAsForm(item);

function sendAsForm(item) {
  const request = item.request = new XMLHttpRequest(), body = new FormData();
  const sending = share => show(item, "sending", share, "Sending " + bytes(item.file.size) +
    ": " + Math.floor(100 * share) + "%");
  const end = (...shown) => { show(item, ...shown); next(); };
  body.append("file", item.file, item.path);
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.upload.onprogress = event => sending(Math.min(event.loaded / event.total, 0.99));
  request.upload.onload = () => show(item, "sent", 0.99, "Sent. The server has not responded yet.");
  request.onload = () => end(...result(item, request.status, request.responseText));
  request.onerror = async () => {
    // A file that can't be read was not sent completely; any other may have been.
    const state = item.state, isThere = await isUnchanged(item);
    if (item.request !== request || item.state !== state) return;
    if (isThere || state !== "sending") {
      end("unknown", 0, "The connection broke: it is not known whether the file arrived.");
    } else {
      end("failed", 0, unreadableText);
    }
  };
  sending(0);
  request.send(body);
}

const unreadableText = "The file can't be read: it is gone, was changed, or is a folder. Choose it again.";

// If the file is gone, Chromium reads a slice of it as no bytes, without an error.
async function isUnchanged({ file, size, date }) {
  const piece = file.size ? file.slice(0, 1) : file;
  const isThere = await piece.arrayBuffer().then(read => read.byteLength === piece.size, () => false);
  return isThere && file.size === size && file.lastModified === date;
}

function result(item, status, response) {
  const isGood = status >= 200 && status < 300;
  let record = null;
  try { record = JSON.parse(response); } catch { /* Not from our server: handled below. */ }
  const part = record?.parts?.[0];
  if (record?.error) return ["failed", 0, visible(record.error.message)];
  if (isGood && record?.complete === true && part?.size === item.file.size) return arrival(item, part);
  return status >= 400 && status < 500
    ? ["failed", 0, "The server refused the file with status " + status + "."]
    : ["unknown", 0, "The response, with status " + status + ", does not say whether the file arrived."];
}

function arrival(item, part) {
  const name = document.createElement("bdi");
  name.textContent = visible(part.stored_as ?? "");
  find("code", item.row).textContent = part.sha256 ? "SHA-256 " + visible(part.sha256) : "";
  return part.stored_as ? ["arrived", 1, "Stored as ", name, ", " + bytes(part.size)]
    : ["arrived", 1, "The server received " + bytes(part.size) + ", and reports no name for the file."];
}

function cancel(item) {
  const details = item.state === "waiting" ? "Cancelled before sending."
    : item.state === "sent" ? "Cancelled too late to know whether it arrived."
    : "Cancelled while sending.";
  item.request?.abort();
  discard(item);
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
  const text = arrived + " of " + items.length + " arrived" + count("interrupted", "interrupted") +
    count("paused", "paused") + count("failed", "failed") +
    count("unknown", "unknown") + count("cancelled", "cancelled") +
    (left.empty ? ", " + some(left.empty, "empty folder") + " left out" : "") +
    (left.unreadable ? ", " + some(left.unreadable, "unreadable path") + " left out" : "") + ".";
  // A text that is set again is read aloud again, as after each attempt that fails.
  if (find("#status").textContent !== text) find("#status").textContent = text;
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
