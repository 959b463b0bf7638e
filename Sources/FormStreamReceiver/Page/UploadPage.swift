import FormStreamPlatform
import FormStreamDigest
import FormStreamRecords

/// The page for people who have a browser and not the command: one file, no assets from anywhere.
///
/// Without a script it is a plain form, which the server answers with a page (`answer`). With it, each
/// file goes in a request of its own, and has arrived where the server has said so.
package enum UploadPage {
  /// The page itself.
  package static let html = page(
    title: "Send files",
    """
    <h1>Send files</h1>
    <form method="post" action="/" enctype="multipart/form-data">
    <label for="file"><span><b>Choose files</b><span id="drop" hidden>, or drop them here</span></span>
    <input type="file" id="file" name="file" multiple required></label>
    <button id="send">Send</button>
    </form>
    <p id="told" role="status"></p>
    <p><button type="button" id="retry" hidden>Retry what failed</button>
    <button type="button" id="cancel" hidden>Cancel all</button></p>
    <ul role="list" aria-label="Files"></ul>
    <template><li><p><bdi></bdi> <button type="button"></button></p>
    <progress max="1" value="0"></progress><p></p><code></code></li></template>
    <script>\(script)</script>
    """)

  /// What the pages may do: run this script, look like this, and speak to the server that they came from.
  /// Nothing that gets into them from a name can be either. Where the digests can't be made there is
  /// neither script nor style, and the form works all the same.
  package static let contentSecurityPolicy = """
    default-src 'none'; \(allowed("style-src", style))\(allowed("script-src", script))\
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
    """

  /// CSP 3, §6.7.3.3: a hash-source matches where it is the digest of the element's text in UTF-8, so of
  /// what stands between the tags, to the byte.
  private static func allowed(_ directive: String, _ text: String) -> String {
    do {
      var digest = try SHA256()
      try Array(text.utf8).withUnsafeBytes { try digest.update($0) }
      return "\(directive) 'sha256-\(base64(try digest.finalize().bytes))'; "
    } catch {
      return ""
    }
  }

  /// What both pages have around them.
  static func page(title: String, _ main: String) -> String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(title)</title>
    <style>\(style)</style>
    </head>
    <body>
    <main>
    \(main)
    </main>
    </body>
    </html>

    """
  }

  private static let style = """

    :root {
      color-scheme: light dark; --back: #f4f5f7; --card: #fff; --text: #1b1f24; --dim: #57606a;
      --line: #c3c9d1; --accent: #0b57d0; --good: #14692d; --bad: #b3261e; --open: #7a4f00;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --back: #14171a; --card: #1f2428; --text: #e6e8ea; --dim: #a4adb6;
        --line: #464e57; --accent: #a8c7fa; --good: #7fd69a; --bad: #ffb4ab; --open: #f0c674;
      }
    }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
    main { max-width: 44rem; margin: 0 auto; padding: 1.5rem 1rem; }
    h1 { font-size: 1.5rem; margin: 0 0 1rem; }
    label {
      display: grid; gap: .75rem; justify-items: start; padding: 1.5rem 1rem;
      background: var(--card); border: 2px dashed var(--line); border-radius: .75rem; cursor: pointer;
      position: relative; grid-template-columns: minmax(0, 1fr);
    }
    label.over, label:hover { border-color: var(--accent); }
    :focus-visible, label:focus-within { outline: 3px solid var(--accent); outline-offset: 2px; }
    input { max-width: 100%; font: inherit; color: var(--dim); }
    /* With the script it lies over the zone unseen: what it says is in the list below. */
    .live input { position: absolute; inset: 0; width: 100%; opacity: 0; cursor: pointer; }
    .live { justify-items: center; text-align: center; padding: 3rem 1rem; }
    .live b { color: var(--accent); text-decoration: underline; }
    button, ::file-selector-button {
      font: inherit; color: var(--accent); background: var(--card); padding: .3rem .9rem;
      border: 1px solid var(--accent); border-radius: .5rem; cursor: pointer;
    }
    #send { margin-top: 1rem; }
    p { margin: .5rem 0; }
    a { color: var(--accent); }
    ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .75rem; }
    li {
      background: var(--card); padding: .75rem 1rem; border-radius: .5rem;
      border: 1px solid var(--line); border-left: 4px solid var(--line);
    }
    li p { display: flex; gap: .25rem 1rem; align-items: start; margin: 0; }
    li p + p, progress + p { display: block; color: var(--dim); }
    li bdi { flex: 1; font-weight: 600; text-align: left; }
    li p + p bdi, progress + p bdi { font-weight: inherit; }
    bdi, code, p { overflow-wrap: anywhere; min-width: 0; }
    code { font-size: .8rem; color: var(--dim); }
    progress { width: 100%; accent-color: var(--accent); }
    .arrived { border-left-color: var(--good); } .arrived p + p, .arrived progress + p { color: var(--good); }
    .failed { border-left-color: var(--bad); } .failed progress + p, .bad { color: var(--bad); }
    .unknown { border-left-color: var(--open); } .unknown progress + p { color: var(--open); }

    """

  // "Sent" is not "arrived": a bar is full only once the server has answered that it has the file, and as
  // many bytes as the file has.
  private static let script = #"""

    "use strict";
    const find = (selector, root = document) => root.querySelector(selector);
    const form = find("form"), input = find("input"), zone = find("label"), items = [];
    const isUnderWay = item => item.state === "sending" || item.state === "sent";
    const isOpen = item => item.state === "waiting" || isUnderWay(item);
    const isFailed = item => item.state === "failed" || item.state === "unknown";
    const bytes = count => count.toLocaleString("en") + (count === 1 ? " byte" : " bytes");
    // What hides, or turns the direction of writing, is spelled out, as the command does it.
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

    function show(item, state, value, ...told) {
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
      find("progress + p", item.row).replaceChildren(...told);
    }

    const wait = item => show(item, "waiting", 0, "Waits for its turn.");

    function send(item) {
      const request = item.request = new XMLHttpRequest(), body = new FormData();
      const sending = share => show(item, "sending", share, "Sending " + bytes(item.file.size) +
        ": " + Math.floor(100 * share) + "%");
      const end = (...shown) => { show(item, ...shown); next(); };
      body.append("file", item.file);
      request.open("POST", form.action);
      request.setRequestHeader("Accept", "application/json");
      request.upload.onprogress = event => sending(Math.min(event.loaded / event.total, 0.99));
      request.upload.onload = () => show(item, "sent", 0.99, "All is sent; the server has not answered yet.");
      request.onload = () => end(...judged(item, request));
      request.onerror = async () => {
        // What can't be read has not gone out whole; anything else may have. Chromium reads a piece of a file
        // that is gone as no bytes, and says nothing.
        const state = item.state, piece = item.file.size ? item.file.slice(0, 1) : item.file;
        const isThere = await piece.arrayBuffer().then(read => read.byteLength === piece.size, () => false);
        if (item.request !== request || item.state !== state) return;
        if (isThere || state !== "sending") {
          end("unknown", 0, "The connection broke: it is not known whether the file arrived.");
        } else {
          end("failed", 0, "It can't be read: it is gone, was changed, or is a folder. Choose it anew.");
        }
      };
      sending(0);
      request.send(body);
    }

    function judged(item, request) {
      const isGood = request.status >= 200 && request.status < 300;
      let record = null;
      try { record = JSON.parse(request.responseText); } catch { /* Not our server's: told below. */ }
      const part = record?.parts?.[0], name = document.createElement("bdi");
      if (record?.error) return ["failed", 0, visible(record.error.message)];
      if (isGood && record?.complete === true && part?.size === item.file.size) {
        name.textContent = visible(part.stored_as ?? "");
        find("code", item.row).textContent = part.sha256 ? "SHA-256 " + visible(part.sha256) : "";
        return part.stored_as ? ["arrived", 1, "Stored as ", name, ", " + bytes(part.size)]
          : ["arrived", 1, "The server took " + bytes(part.size) + ", and tells no name it stored them under."];
      }
      return request.status >= 400 && request.status < 500
        ? ["failed", 0, "The server refused it, with status " + request.status + "."]
        : ["unknown", 0, "The answer, of status " + request.status + ", does not say whether it arrived."];
    }

    function cancel(item) {
      const told = item.state === "waiting" ? "Cancelled before it was sent."
        : item.state === "sending" ? "Cancelled while it was sent."
        : "Cancelled too late to know whether it arrived.";
      item.request?.abort();
      show(item, "cancelled", 0, told);
    }

    function next() {
      let room = 2 - items.filter(isUnderWay).length;
      for (const item of items) if (room > 0 && item.state === "waiting") { room -= 1; send(item); }
      const count = (state, text) => {
        const number = items.filter(item => item.state === state).length;
        return number ? ", " + number + " " + text : "";
      };
      const arrived = items.filter(item => item.state === "arrived").length;
      find("#told").textContent = arrived + " of " + items.length + " arrived" + count("failed", "failed") +
        count("unknown", "not known") + count("cancelled", "cancelled") + ".";
      find("#retry").hidden = !items.some(isFailed);
      find("#cancel").hidden = !items.some(isOpen);
    }

    function take(files) { for (const file of files) add(file); if (files.length) next(); }

    zone.classList.add("live");
    find("#drop").hidden = false;
    find("#send").hidden = true;
    find("#retry").onclick = () => { items.filter(isFailed).forEach(wait); next(); };
    find("#cancel").onclick = () => { items.filter(isOpen).forEach(cancel); next(); };
    input.onchange = () => { take([...input.files]); input.value = ""; };
    form.onsubmit = event => event.preventDefault();
    // A file that is dropped beside the zone would take the page's place.
    for (const kind of ["dragover", "dragleave", "drop"]) document.addEventListener(kind, event => {
      event.preventDefault();
      zone.classList.toggle("over", kind === "dragover");
      if (kind === "drop") take([...event.dataTransfer.files]);
    });
    window.addEventListener("beforeunload", event => { if (items.some(isOpen)) event.preventDefault(); });

    """#
}
