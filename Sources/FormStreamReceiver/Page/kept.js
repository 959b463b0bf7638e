
// What is kept across a reload: if a file is chosen again, its upload goes on. A file is the same if its path, size and date and
// the digest of its first MiB are the same. If a file is listed twice, each gets its own upload, and the first one's is kept.
const prefix = "formstream-upload ", owners = new Map(), locked = new Set();

async function recall(item, run) {
  item.key ??= prefix + JSON.stringify([item.path, item.size, item.date, await beginning(item.file)]);
  const isOwner = await isOwnedHere(item.key) && !run.isStopped && (owners.get(item.key) ?? item) === item;
  if (!isOwner) return false;
  owners.set(item.key, item);
  item.upload = kept().get(item.key) ?? null;
  showKept();
  return item.upload !== null;
}

// Another window must not go on with the same upload. A window keeps its locks until it is closed. Over plain HTTP from another
// machine there are no locks; then the window that was overtaken finds an offset that it has not sent.
function isOwnedHere(key) {
  if (!navigator.locks || locked.has(key)) return true;
  return new Promise(resolve => navigator.locks.request(key, { ifAvailable: true }, lock => {
    resolve(lock !== null);
    if (lock) { locked.add(key); return new Promise(() => {}); }
  }));
}

// Browsers have SHA-256 only on pages from this machine or over TLS. Elsewhere two checksums have to do (FNV-1a, from two
// starting values): they guard against mistakes, not against somebody who wants to deceive the person with the file.
async function beginning(file) {
  const piece = await file.slice(0, MiB).arrayBuffer().catch(() => { throw unreadable; });
  const hex = (number, digits) => number.toString(16).padStart(digits, "0");
  if (crypto.subtle) {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", piece));
    return "sha-256 " + Array.from(digest, byte => hex(byte, 2)).join("");
  }
  return "fnv-1a " + [0x811c9dc5, 0x9747b28c].map(start => hex(new Uint8Array(piece)
    .reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193), start) >>> 0, 8)).join("");
}

// The uploads that are kept, by key. A browser may not allow a page to keep anything.
function kept() {
  const found = new Map();
  try {
    for (const key of Object.keys(localStorage).filter(key => key.startsWith(prefix))) {
      const upload = JSON.parse(localStorage.getItem(key));
      if (upload.expires > Date.now()) found.set(key, upload); else localStorage.removeItem(key);
    }
  } catch { /* Then nothing is kept. */ }
  return found;
}

function remember(item) {
  if (owners.get(item.key) !== item) return;
  try { localStorage.setItem(item.key, JSON.stringify(item.upload)); } catch { /* Only a reload is affected. */ }
}

function forget(item) {
  item.upload = null;
  if (owners.get(item.key) !== item) return;
  owners.delete(item.key);
  try { localStorage.removeItem(item.key); } catch { /* It was not kept. */ }
}

// The uploads that no file of this page goes on with.
const unclaimed = () => [...kept()].filter(([key]) => !owners.has(key));

function showKept() {
  const names = unclaimed().map(([, upload]) => {
    const name = document.createElement("bdi");
    name.textContent = visible(upload.path);
    return [", ", name];
  });
  find("#kept").hidden = !names.length;
  find("#kept span").replaceChildren("Not complete: ", ...names.flat().slice(1), ". Choose the same file again to go on. ");
}

find("#kept button").onclick = () => {
  for (const [key, upload] of unclaimed()) { localStorage.removeItem(key); cancelUpload(upload.url); }
  showKept();
  input.focus();
};
showKept();
