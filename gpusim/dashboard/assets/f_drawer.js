/* The width of the panels beside the timelines: dragged by their left edge, and kept for the next time. */
(function () {
  "use strict";
  const LEAST = 260, LEFT = 560; /* px of the panels, and of what stays for the timelines */
  const KEPT = "gpusim-drawer";

  function set(width) {
    const most = Math.max(LEAST, window.innerWidth - LEFT);
    document.documentElement.style.setProperty("--drawer", Math.min(Math.max(width, LEAST), most) + "px");
  }

  const kept = Number(window.localStorage.getItem(KEPT));
  if (kept) set(kept);

  document.addEventListener("pointerdown", function (event) {
    const grip = event.target.closest && event.target.closest("#drawer-grip");
    if (!grip) return;
    event.preventDefault();
    grip.setPointerCapture(event.pointerId);
    const move = (at) => set(window.innerWidth - at.clientX);
    grip.addEventListener("pointermove", move);
    grip.addEventListener("lostpointercapture", function () {
      grip.removeEventListener("pointermove", move);
      window.localStorage.setItem(KEPT, document.getElementById("drawer").offsetWidth);
    }, { once: true });
  });

  /* Twice on the edge: as wide as at first. */
  document.addEventListener("dblclick", function (event) {
    if (!event.target.closest || !event.target.closest("#drawer-grip")) return;
    document.documentElement.style.removeProperty("--drawer");
    window.localStorage.removeItem(KEPT);
  });
})();
