/* The scenario's text: a field for typing, behind it the lines with numbers and marks, and its place in the address.
   What is typed is told to the server when the keys rest, and counted: an answer to less than all of it is not shown. */
(function () {
  "use strict";
  const { $, send, state, leftOut } = window.gpusimView;
  const REST_MS = 100, AGAIN_MS = 700, LATER_MS = 60;
  const MOST = 256 * 1024; /* letters, as MAX_BYTES in yaml_source.py; of a longer text enough is sent to be refused */
  const MOST_LINES = 4000; /* more of them are shown without numbers and marks */
  const IN_ADDRESS = "#text=";
  let of = null, typed = 0, sent = 0, timer = null, marks = { changed: [], wrong: [] };
  const field = () => $("text-input");
  const nothing = () => window.dash_clientside.no_update;

  /* Only lines that have become others are touched. */
  function draw() {
    const text = field().value, lines = text.split("\n"), box = $("text-lines");
    const plain = text.length > MOST || lines.length > MOST_LINES;
    $("scenario-text").classList.toggle("plain", plain);
    if (plain) return box.replaceChildren();
    const changed = new Set(marks.changed), wrong = new Set(marks.wrong);
    while (box.children.length > lines.length) box.lastChild.remove();
    lines.forEach(function (line, at) {
      const row = box.children[at] || box.appendChild(document.createElement("div"));
      const name = wrong.has(at + 1) ? "line wrong-line" : changed.has(at + 1) ? "line changed" : "line";
      if (row.textContent !== line) row.textContent = line;
      if (row.className !== name) row.className = name;
    });
    field().setAttribute("aria-invalid", wrong.size > 0);
  }

  function tell() {
    clearTimeout(timer);
    if (sent === typed || !of) return;
    sent = typed;
    send("typed", { data: { of: of, text: field().value.slice(0, MOST + 1), number: typed, at: Date.now() } });
  }

  function later(wait) {
    clearTimeout(timer);
    timer = setTimeout(tell, wait);
  }

  /* Inside the text alone: nothing else on the page may move. Who is typing looks at the line already. */
  function showWrongLine() {
    const line = $("text-lines").querySelector(".wrong-line"), box = $("scenario-text");
    if (line && document.activeElement !== field()) box.scrollTop = line.offsetTop - box.clientHeight / 2;
  }

  document.addEventListener("input", function (event) {
    if (event.target.id !== "text-input") return;
    typed += 1;
    draw();
    later(REST_MS);
  });
  /* Whoever goes on to another part of the page means all of it. */
  document.addEventListener("focusout", (event) => { if (event.target.id === "text-input") tell(); });

  /* From what is wrong to its line. */
  document.addEventListener("click", function (event) {
    if (!event.target.closest || !event.target.closest("#wrong") || !marks.wrong.length) return;
    const at = field().value.split("\n").slice(0, marks.wrong[0] - 1).join("\n").length;
    field().focus();
    field().setSelectionRange(at && at + 1, at && at + 1);
    const line = $("text-lines").children[marks.wrong[0] - 1];
    if (line) line.scrollIntoView({ block: "nearest" });
  });

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.gpusimText = {
    show: function (shown) {
      if (!shown || !field()) return nothing();
      if (shown.of !== of) { of = shown.of; typed = sent = shown.number; clearTimeout(timer); }
      else if (shown.number !== typed) {
        /* Of less than what stands there. It is told once more, in case something else was answered in its place. */
        if (sent === typed) { typed += 1; later(AGAIN_MS); }
        return nothing();
      }
      if (shown.text !== null && shown.text !== field().value) field().value = shown.text;
      marks = shown;
      draw();
      showWrongLine();
      return nothing();
    },
    keep: function (made) {
      if (made) keep(made.text);
      return nothing();
    },
  };

  /* An edited text is the part of the address behind #, which is never sent: any length of it can be reloaded. */
  let writing = 0;
  async function keep(text) {
    if (opening) return;
    const now = (writing += 1);
    const none = text === null || text === undefined || text.length > MOST;
    const kept = none ? "" : IN_ADDRESS + (await packed(text));
    /* Another scenario gets an entry of its own in the browser's history; that of an edited text keeps it. */
    if (none) await new Promise((go) => setTimeout(go, LATER_MS));
    if (now !== writing || kept === state.text) return;
    state.text = kept;
    history.replaceState(null, "", location.pathname + location.search + kept);
  }

  async function through(data, stream) {
    return new Uint8Array(await new Response(new Blob([data]).stream().pipeThrough(stream)).arrayBuffer());
  }
  async function packed(text) {
    let letters = "";
    for (const byte of await through(text, new CompressionStream("deflate-raw"))) letters += String.fromCharCode(byte);
    return btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }
  async function unpacked(letters) {
    const bytes = atob(letters.replace(/-/g, "+").replace(/_/g, "/"));
    const data = Uint8Array.from(bytes, (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(await through(data, new DecompressionStream("deflate-raw")));
  }

  let opening = location.hash.startsWith(IN_ADDRESS) ? location.hash : "";
  state.text = opening;
  async function restore() {
    const changes = new URLSearchParams(location.search).getAll("set");
    /* Half an address, or a foreign one, is none. */
    const text = await unpacked(opening.slice(IN_ADDRESS.length)).catch(() => null);
    opening = "";
    if (text === null) {
      leftOut("The scenario's text behind #text= cannot be read, perhaps because a part of it is missing.");
      return keep(null);
    }
    send("changes", { data: { list: changes, text: text, history: [], by: "", number: 0, at: 0 } });
    send("what-if", { hidden: false });
  }
  function begin() {
    if (of) restore();
    else setTimeout(begin, 25);
  }
  if (opening) begin();
  window.addEventListener("hashchange", () => location.reload());
})();
