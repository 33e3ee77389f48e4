/* Clicks on lanes, legend and details, and the keyboard. */
(function () {
  "use strict";
  const view = window.gpusimView;
  const { $, send } = view;

  function toggle(list, value) {
    const at = list.indexOf(value);
    if (at < 0) list.push(value);
    else list.splice(at, 1);
  }

  function onlyThis(hidden, category) {
    const all = [...document.querySelectorAll("[data-category]")].map((chip) => Number(chip.dataset.category));
    const others = all.filter((other) => other !== category);
    const alone = others.every((other) => hidden.includes(other)) && !hidden.includes(category);
    hidden.splice(0, hidden.length, ...(alone ? [] : others));
  }

  /* Twice the same is pressed twice. */
  const press = (type, what) => send("pressed", { data: { type: type, at: Date.now(), ...what } });

  document.addEventListener("click", function (event) {
    const on = (selector) => event.target.closest && event.target.closest(selector);
    const pin = on("[data-pin]"), row = on("[data-path]"), chip = on("[data-category]"), jump = on("[data-jump]");
    const inside = on("[data-inside]"), other = on("[data-press]"), point = on("[data-point]"), drop = on("[data-drop]");
    if (pin) view.lanes((next) => toggle(next.pinned, pin.dataset.pin));
    else if (row && row.classList.contains("group"))
      view.lanes((next) => { next.toggled[row.dataset.path] = row.dataset.open !== "1"; });
    else if (chip)
      view.lanes((next) => {
        const category = Number(chip.dataset.category);
        if (event.shiftKey) onlyThis(next.hidden, category);
        else toggle(next.hidden, category);
      });
    else if (jump) {
      const { side, index, start, end } = jump.dataset;
      const range = view.current(), low = Number(start), high = Number(end);
      if (range && (low < range[0] || high > range[1])) {
        const width = Math.max(range[1] - range[0], (high - low) * 1.5), middle = (low + high) / 2;
        view.setWindow(middle - width / 2, middle + width / 2);
      }
      view.select(side, Number(index));
    } else if (inside) {
      const { start, end } = inside.dataset;
      view.lanes((next) => { for (const path of JSON.parse(inside.dataset.inside)) next.toggled[path] = true; });
      view.setWindow(Number(start), Number(end));
    } else if (point) press("pick", { changes: point.dataset.point });
    else if (drop) press("drop", { change: drop.dataset.drop });
    else if (other) $(other.dataset.press).click();
    else if (on("[data-close]")) view.select(null);
  });

  const choose = (id, value) => send(id, { value: value });
  const keys = {
    "+": () => view.zoom(0.5), "=": () => view.zoom(0.5), "-": () => view.zoom(2), "_": () => view.zoom(2),
    ArrowLeft: () => view.pan(-0.25), ArrowRight: () => view.pan(0.25), "0": () => view.home(),
    "1": () => choose("mode", "stacked"), "2": () => choose("mode", "overlay"), "3": () => choose("mode", "difference"),
    c: () => $("critical") && $("critical").click(), C: () => $("critical") && $("critical").click(),
    s: () => $("sweep-open").click(), S: () => $("sweep-open").click(),
    w: () => $("what-if-open").click(), W: () => $("what-if-open").click(),
    "/": () => $("search").focus(), "?": () => send("help", { opened: true }),
  };

  document.addEventListener("keydown", function (event) {
    const target = event.target;
    const typing = target.matches && target.matches("input:not([type=radio]):not([type=checkbox]), textarea, [contenteditable=true]");
    if (event.key === "Escape") {
      if (typing) target.blur();
      else view.select(null);
      return;
    }
    const sliding = target.closest && target.closest("[role=slider]");
    if (typing || sliding || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
})();
