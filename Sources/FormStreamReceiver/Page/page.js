"use strict";
// "Sent" is not "arrived": a bar is full only after the server has responded that it has the file, with as many bytes
// as the file has.
const find = (selector, root = document) => root.querySelector(selector);
const form = find("form"), input = find("input"), zone = find("label"), items = [];
const isInProgress = item => item.state === "sending" || item.state === "sent";
const isOpen = item => item.state === "waiting" || isInProgress(item);
const isFailed = item => item.state === "failed" || item.state === "unknown";
const bytes = count => count.toLocaleString("en") + (count === 1 ? " byte" : " bytes");
// Characters that are invisible or change the direction of writing are spelled out, as by the command.
const hidden = /(?![\u200c\u200d\p{VS}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;
const visible = text => String(text).replace(hidden, character =>
  "\\u{" + character.codePointAt(0).toString(16).toUpperCase() + "}");

function add(file) {
  const row = find("template").content.firstElementChild.cloneNode(true), name = visible(file.name);
  const item = { file, name, row, bar: find("progress", row), button: find("button", row) };
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
  item.button.textContent = isOpen(item) ? "Cancel" : isFailed(item) ? "Retry" : "Send again";
  item.button.setAttribute("aria-label", item.button.textContent + " " + item.name);
  find("progress + p", item.row).replaceChildren(...details);
}

const wait = item => show(item, "waiting", 0, "Waiting.");

function send(item) {
  const request = item.request = new XMLHttpRequest(), body = new FormData();
  const sending = share => show(item, "sending", share, "Sending " + bytes(item.file.size) +
    ": " + Math.floor(100 * share) + "%");
  const end = (...shown) => { show(item, ...shown); next(); };
  body.append("file", item.file);
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
    count("unknown", "unknown") + count("cancelled", "cancelled") + ".";
  find("#retry").hidden = !items.some(isFailed);
  find("#cancel").hidden = !items.some(isOpen);
}

function addAll(files) { for (const file of files) add(file); if (files.length) next(); }

zone.classList.add("live");
find("#drop").hidden = false;
find("#send").hidden = true;
find("#retry").onclick = () => { items.filter(isFailed).forEach(wait); next(); };
find("#cancel").onclick = () => { items.filter(isOpen).forEach(cancel); next(); };
input.onchange = () => { addAll([...input.files]); input.value = ""; };
form.onsubmit = event => event.preventDefault();
// A file that is dropped beside the zone would replace the page.
for (const kind of ["dragover", "dragleave", "drop"]) document.addEventListener(kind, event => {
  event.preventDefault();
  zone.classList.toggle("over", kind === "dragover");
  if (kind === "drop") addAll([...event.dataTransfer.files]);
});
window.addEventListener("beforeunload", event => { if (items.some(isOpen)) event.preventDefault(); });
