/* The time cursor of the ladder: it moves over a rung's timeline, and what is later is dimmed. */
(function () {
  "use strict";
  const PASS_S = 9; /* seconds that a whole timeline takes */
  const state = new WeakMap(); /* of each rung: where its cursor is, µs, and the frame that is asked for */

  const held = (rung) => {
    if (!state.has(rung)) state.set(rung, { at: null, frame: null });
    return state.get(rung);
  };
  const plot = (rung) => rung.querySelector(".js-plotly-plot");
  const axis = (rung) => plot(rung) && plot(rung)._fullLayout && plot(rung)._fullLayout.xaxis;
  const steps = (rung) => plot(rung).layout.meta.steps;
  const text = (us) => (us >= 1000 ? (us / 1000).toFixed(2) + " ms" : us.toFixed(us < 10 ? 3 : 1) + " µs");

  function show(rung) {
    const { at } = held(rung), line = rung.querySelector(".now"), later = rung.querySelector(".later");
    line.style.display = later.style.display = at === null ? "none" : "block";
    if (at === null) return;
    const x = axis(rung), left = x._offset + x.l2p(at);
    line.style.left = later.style.left = left + "px";
    const past = steps(rung).filter((step) => step[0] <= at + 1e-6);
    const last = past[past.length - 1];
    rung.querySelector(".told").textContent = text(at) + (last ? " · " + last[1] : "");
  }

  function stop(rung) {
    const one = held(rung);
    if (one.frame) cancelAnimationFrame(one.frame);
    one.frame = null;
    mark(rung, false);
  }

  function mark(rung, playing) {
    const button = rung.querySelector("[data-move=play]");
    button.textContent = playing ? "❚❚" : "▶";
    button.setAttribute("aria-pressed", String(playing));
  }

  function play(rung) {
    const one = held(rung), [, last] = axis(rung).range.map(Number);
    if (one.frame) return stop(rung);
    if (one.at === null || one.at >= last) one.at = 0;
    let before = performance.now();
    mark(rung, true);
    const tick = (time) => {
      /* A rung that was drawn anew has lost its cursor. */
      if (!rung.isConnected || !axis(rung)) return void (one.frame = null);
      one.at = Math.min(one.at + ((time - before) / 1000 / PASS_S) * last, last);
      before = time;
      show(rung);
      if (one.at >= last) return stop(rung);
      one.frame = requestAnimationFrame(tick);
    };
    one.frame = requestAnimationFrame(tick);
  }

  function move(rung, way) {
    if (!axis(rung)) return;
    const one = held(rung), times = steps(rung).map((step) => step[0]);
    if (way === "play") return play(rung);
    stop(rung);
    if (way === "first") one.at = 0;
    if (way === "all") one.at = null;
    const at = one.at === null ? Infinity : one.at;
    if (way === "next") one.at = one.at === null ? times[0] : times.find((time) => time > at + 1e-6) ?? at;
    if (way === "back") one.at = times.filter((time) => time < at - 1e-6).pop() ?? 0;
    show(rung);
  }

  document.addEventListener("click", function (event) {
    const button = event.target.closest && event.target.closest("[data-move]");
    if (button) move(button.closest(".rung"), button.dataset.move);
  });
  /* From any of a rung's buttons: arrows step. */
  document.addEventListener("keydown", function (event) {
    const button = event.target.closest && event.target.closest("[data-move]");
    const way = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "all" }[event.key];
    if (!button || !way) return;
    event.preventDefault();
    move(button.closest(".rung"), way);
  });

  /* The width of the page, told when it has changed: figures are drawn for it. */
  let told = 0, timer = null;
  function watch() {
    const ladder = document.getElementById("ladder");
    if (!ladder) return;
    new ResizeObserver(function () {
      clearTimeout(timer);
      timer = setTimeout(function () {
        const width = ladder.clientWidth;
        if (Math.abs(width - told) < 3) return;
        told = width;
        window.dash_clientside.set_props("room", { data: width });
      }, 150);
    }).observe(ladder);
  }
  window.dash_clientside.gpusimPages.room = function () {
    const ladder = document.getElementById("ladder");
    told = ladder.clientWidth;
    setTimeout(watch, 0);
    return told;
  };
})();
