/* The drawing itself: zoom, click, hover, wheel, and the size that it may take. */
(function () {
  "use strict";
  const view = window.gpusimView;
  const { $, send } = view;

  /* Shares of a heatmap cell: pairs (category, percent), largest first. */
  function mixAt(trace, row, column) {
    const info = trace.meta;
    if (!info.bytes) {
      const text = atob(info.mix.bdata);
      info.bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
      info.shape = info.mix.shape.split(",").map(Number);
    }
    const [, columns, depth] = info.shape;
    const parts = [];
    for (let k = 0; k < depth; k += 2) {
      const place = (row * columns + column) * depth + k;
      if (info.bytes[place + 1] > 0) parts.push([info.bytes[place], info.bytes[place + 1]]);
    }
    return parts;
  }

  function line(className, text) {
    const box = document.createElement("div");
    box.className = className;
    box.textContent = text;
    return box;
  }

  function showMix(point, event) {
    const [row, column] = point.pointNumber || point.pointIndex;
    const parts = mixAt(point.data, row, column);
    const tip = $("tip");
    if (!parts.length) return hideTip();
    tip.replaceChildren(line("tip-head", point.data.meta.rows[row] || ""), line("tip-dim", "around " + view.timeText(point.x)));
    for (const [category, share] of parts) {
      const box = line("tip-line", point.data.meta.labels[category]);
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = point.data.meta.colours[category];
      const value = document.createElement("b");
      value.textContent = share + " %";
      box.prepend(swatch);
      box.append(value);
      tip.append(box);
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
    gd.on("plotly_doubleclick", () => view.home());
    gd.on("plotly_click", function (data) {
      const point = data.points[0];
      if (point.data.type === "heatmap") return view.zoom(0.12, point.x);
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
