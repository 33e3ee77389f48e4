/* The drawing itself: zoom, click, hover, wheel, and the size that it may take. */
(function () {
  "use strict";
  const view = window.gpusimView;
  const { $, send } = view;

  /* Percentages of a bin per label, for one side or two, largest first; 255 stands for less than half a percent. */
  const BELOW_ONE = 255;
  function sharesAt(part, row, column) {
    if (!part.bytes)
      part.bytes = part.mixes.map((mix) => Uint8Array.from(atob(mix.bdata), (letter) => letter.charCodeAt(0)));
    const [, columns, depth] = part.mixes[0].shape.split(",").map(Number);
    const size = (shares) => Math.max(...shares.map((share) => (share === BELOW_ONE ? 0.25 : share)));
    return part.labels
      .map((label, k) => ({ label: label, colour: part.colours[k],
        shares: part.bytes.map((bytes) => bytes[(row * columns + column) * depth + k]) }))
      .filter((entry) => entry.shares.some((share) => share > 0))
      .sort((one, other) => size(other.shares) - size(one.shares));
  }

  const percent = (share) => (share === BELOW_ONE ? "< 1 %" : share + " %");

  function entryLine({ label, colour, shares }) {
    const box = line("tip-line", label);
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = colour;
    const value = document.createElement("b");
    value.textContent = shares.map(percent).join(" → ");
    box.prepend(swatch);
    box.append(value);
    return box;
  }

  function line(className, text) {
    const box = document.createElement("div");
    box.className = className;
    box.textContent = text;
    return box;
  }

  function showMix(point, event) {
    const [level, column] = point.pointNumber || point.pointIndex;
    const info = point.data.meta, row = info.strips[level];
    const parts = info.parts.map((part) => [part.title, sharesAt(part, row, column)]);
    const tip = $("tip");
    if (parts.every(([, entries]) => !entries.length)) return hideTip();
    tip.replaceChildren(line("tip-head", info.rows[row] || ""), line("tip-dim", "share of the time around " + view.timeText(point.x)));
    for (const [title, entries] of parts) {
      if (title && entries.length) tip.append(line("tip-part", title));
      tip.append(...entries.map(entryLine));
    }
    const area = $("canvas").getBoundingClientRect();
    const x = event.clientX - area.left, y = event.clientY - area.top;
    tip.style.display = "block";
    tip.style.left = Math.min(x + 14, area.width - tip.offsetWidth - 8) + "px";
    tip.style.top = (y + 18 + tip.offsetHeight > area.height ? y - tip.offsetHeight - 10 : y + 18) + "px";
  }

  function hideTip() { $("tip").style.display = "none"; }

  function markRow(event) {
    const area = $("canvas").getBoundingClientRect();
    const y = event.clientY - area.top;
    for (const row of document.querySelectorAll("#gutter .lane-row")) {
      const top = parseFloat(row.style.top);
      row.classList.toggle("under", y >= top && y < top + parseFloat(row.style.height));
    }
  }

  window.gpusimBind = function () {
    const gd = view.plot();
    if (!gd || !gd.on) return void setTimeout(window.gpusimBind, 60);
    if (gd.gpusimBound) return;
    gd.gpusimBound = true;
    gd.on("plotly_relayout", function (change) {
      const low = change["xaxis.range[0]"], high = change["xaxis.range[1]"];
      if (low !== undefined && high !== undefined) view.setWindow(Number(low), Number(high));
    });
    /* Both clicks of a double click arrive as single ones, too, the second behind it: a click on density waits. */
    const DOUBLE_MS = 320;
    let zooming = null, doubled = -Infinity;
    gd.on("plotly_doubleclick", () => { clearTimeout(zooming); doubled = performance.now(); view.home(); });
    gd.on("plotly_click", function (data) {
      const point = data.points[0];
      if (point.data.type === "heatmap") {
        clearTimeout(zooming);
        if (performance.now() - doubled > DOUBLE_MS)
          zooming = setTimeout(() => view.zoom(0.12, point.x), DOUBLE_MS);
        return;
      }
      if (point.customdata) view.select(point.customdata[0], point.customdata[1]);
    });
    gd.on("plotly_hover", function (data) {
      markRow(data.event);
      if (data.points[0].data.type === "heatmap") showMix(data.points[0], data.event);
      else hideTip();
    });
    gd.on("plotly_unhover", hideTip);
  };

  /* A line under the pointer through all panels, with its time. */
  document.addEventListener("mousemove", function (event) {
    const cursor = $("cursor"), gd = view.plot();
    if (!cursor || !gd || !gd._fullLayout) return;
    const box = event.target.closest && event.target.closest("#graph-box");
    const axis = gd._fullLayout.xaxis;
    if (!box || !axis) { cursor.style.display = "none"; return; }
    const left = event.clientX - box.getBoundingClientRect().left;
    if (left > axis._offset + axis._length) { cursor.style.display = "none"; return; }
    cursor.style.display = "block";
    cursor.style.left = box.offsetLeft + left + "px";
    cursor.firstChild.textContent = view.timeText(axis.p2l(left - axis._offset));
    cursor.classList.toggle("flip", left > axis._length - 90);
  });

  /* Wheel: with Ctrl (or where nothing scrolls) zoom at the pointer; with Shift or sideways move. */
  let wheel = null;
  function applyWheel() {
    const { factor, shift, at } = wheel;
    wheel = null;
    if (shift) view.pan(shift);
    else if (factor !== 1) view.zoom(factor, at);
  }
  function onWheel(event) {
    const box = event.target.closest && event.target.closest("#graph-box");
    const gd = view.plot();
    if (!box || !gd || !gd._fullLayout) return;
    const scroller = $("scroller");
    const scrolls = scroller.scrollHeight > scroller.clientHeight + 2;
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (scrolls && !sideways && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const axis = gd._fullLayout.xaxis;
    const at = axis.p2l(event.clientX - gd.getBoundingClientRect().left - axis._offset);
    if (!wheel) { wheel = { factor: 1, shift: 0, at: at }; requestAnimationFrame(applyWheel); }
    if (sideways) wheel.shift += (event.deltaX || event.deltaY) / 900;
    else wheel.factor *= Math.exp(Math.max(-0.6, Math.min(0.6, event.deltaY / 350)));
  }
  document.addEventListener("wheel", onWheel, { passive: false });

  /* The room that a figure may take, told to the server when it changes. */
  let told = null, timer = null;
  function tell() {
    const scroller = $("scroller"), box = $("graph-box");
    if (!scroller || !box || !scroller.clientHeight) return;
    const details = $("details");
    const size = { width: box.clientWidth, height: scroller.clientHeight - 2, room: scroller.clientHeight + (details ? details.offsetHeight : 0) };
    if (told && Math.abs(size.width - told.width) < 2 && Math.abs(size.height - told.height) < 5) return;
    told = size;
    send("viewport", { data: size });
  }
  function watch() {
    const scroller = $("scroller");
    if (!scroller || !window.dash_clientside || !window.dash_clientside.set_props) return void setTimeout(watch, 25);
    tell();
    new ResizeObserver(() => { clearTimeout(timer); timer = setTimeout(tell, 120); }).observe(scroller);
  }
  watch();
})();
