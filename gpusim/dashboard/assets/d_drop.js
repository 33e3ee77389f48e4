/* Files that are dragged over the page, or chosen: the zone that takes them is there only for them. */
(function () {
  "use strict";
  const MOST_BYTES = 64 * 1024 * 1024; /* as MOST_BYTES in imports.py */
  const { $, send } = window.gpusimView;
  const show = (on) => document.documentElement.classList.toggle("dragging", on);
  const files = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");

  document.addEventListener("dragenter", (event) => { if (files(event) && $("trace")) show(true); });
  document.addEventListener("dragover", (event) => { if (files(event)) event.preventDefault(); });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) show(false); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") show(false); });

  /* What is too large must not be read, let alone be sent: it would take the browser's memory. */
  function refuse(event, file) {
    event.stopPropagation();
    event.preventDefault();
    const size = Math.round(file.size / 1048576) + " MiB, at most " + MOST_BYTES / 1048576 + " MiB are read. ";
    const text = file.name + ": " + size + "Trace a shorter run, or compare it by gpusim compare --measured.";
    send("import-message", { children: { type: "Div", namespace: "dash_html_components",
      props: { className: "banner import-wrong", role: "alert", children: text } } });
  }
  document.addEventListener("drop", function (event) {
    if (!files(event)) return;
    const file = event.dataTransfer.files[0];
    if (file && file.size > MOST_BYTES) refuse(event, file);
    else if (!event.target.closest || !event.target.closest(".drop-zone")) event.preventDefault();
    setTimeout(() => show(false), 0);
  }, true);
  document.addEventListener("change", function (event) {
    const file = event.target.closest && event.target.closest("#trace") && event.target.files && event.target.files[0];
    if (file && file.size > MOST_BYTES) refuse(event, file);
  }, true);

  document.addEventListener("click", function (event) {
    const on = (selector) => event.target.closest && event.target.closest(selector);
    if (on("#import-open")) document.querySelector("#trace input[type=file]").click();
    else if (on("[data-imported=message]")) send("import-message", { children: [] });
    else if (on("[data-imported=trace]")) send("imported", { data: { key: "", at: Date.now() } });
  });
})();
