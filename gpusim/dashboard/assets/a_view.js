/* State of the page that changes too often for the server: window, lanes, selection.
   It is handed to Dash through stores; every entry names the case it belongs to. */
(function () {
  "use strict";
  const state = { case: null, name: null, live: null, lanes: {}, text: "" };
  const $ = (id) => document.getElementById(id);
  const send = (id, props) => window.dash_clientside.set_props(id, props);
  const plot = () => document.querySelector("#graph .js-plotly-plot");
  const meta = () => (plot() && plot().layout && plot().layout.meta) || null;
  const same = () => window.dash_clientside.no_update;

  /* Where the user is: the window asked for, or what is drawn. */
  function current() {
    const info = meta();
    if (state.live && info && state.live.case === info.case) return [state.live.low, state.live.high];
    return drawn();
  }

  function drawn() {
    const axis = plot() && plot()._fullLayout && plot()._fullLayout.xaxis;
    return axis ? axis.range.map(Number) : null;
  }

  function timeText(us) {
    const size = Math.abs(us);
    if (size < 0.9995) return (us * 1000).toPrecision(3).replace(/\.0+$/, "") + " ns";
    if (size >= 999.95) return (us / 1000).toFixed(size < 1e4 ? 3 : 2) + " ms";
    return us.toFixed(size < 10 ? 3 : size < 100 ? 2 : 1) + " µs";
  }

  function showRange(low, high) {
    const box = $("range");
    const first = Math.max(low, 0);
    if (box) box.textContent = timeText(first) + " – " + timeText(high) + "  (" + timeText(high - first) + ")";
  }

  /* A single step is told to the server at once and the old picture is stretched while the
     server works; in a burst (wheel, held key) only the last step is told. */
  let pending = null, last = 0, stretch = null, advising = null;
  const ADVICE_MS = 400;
  const MOST_LETTERS = 4000; /* as in address.py */
  function push() {
    clearTimeout(pending);
    const now = performance.now(), burst = now - last < 250;
    last = now;
    const tell = () => send("window", { data: state.live });
    if (burst) pending = setTimeout(tell, 60);
    else tell();
  }

  function show(low, high) {
    clearTimeout(stretch);
    stretch = setTimeout(function () {
      const range = drawn();
      if (range && (Math.abs(range[0] - low) > 1e-9 || Math.abs(range[1] - high) > 1e-9))
        window.Plotly.relayout(plot(), { "xaxis.range": [low, high] });
    }, 12);
  }

  function setWindow(low, high) {
    const info = meta();
    if (!info || !(high > low)) return;
    const [first, last] = info.home;
    const least = 2e-4;
    let width = Math.max(high - low, least);
    if (width >= last - first) return home();
    if (high - low < least) { const mid = (low + high) / 2; low = mid - width / 2; }
    low = Math.min(Math.max(low, first), last - width);
    high = low + width;
    state.live = { case: info.case, low: low, high: high };
    showRange(low, high);
    push();
    show(low, high);
  }

  function home() {
    const info = meta();
    if (!info) return;
    state.live = null;
    showRange(info.home[0], info.home[1]);
    push();
    show(info.home[0], info.home[1]);
  }

  function zoom(factor, at) {
    const range = current();
    if (!range) return;
    const centre = at === undefined ? (range[0] + range[1]) / 2 : at;
    setWindow(centre - (centre - range[0]) * factor, centre + (range[1] - centre) * factor);
  }

  function pan(part) {
    const range = current();
    if (!range) return;
    const step = part * (range[1] - range[0]);
    setWindow(range[0] + step, range[1] + step);
  }

  function select(side, index) {
    send("selected", { data: side ? { case: state.case, side: side, index: index } : null });
  }

  function lanes(change) {
    const held = state.lanes.case === state.case ? state.lanes : { case: state.case, toggled: {}, pinned: [], hidden: [] };
    const next = { case: state.case, toggled: { ...held.toggled }, pinned: [...held.pinned], hidden: [...held.hidden] };
    change(next);
    state.lanes = next;
    send("lanes", { data: next });
  }

  /* As address_message in importing.py. */
  function leftOut(text) {
    const make = (type, children, more) => ({ type: type, namespace: "dash_html_components", props: { children, ...more } });
    const parts = [make("Span", "Left out of the address", { className: "strong" }), make("Div", text),
                   make("Button", "×", { className: "close", title: "Close", "data-imported": "message" })];
    send("import-message", { children: make("Div", parts, { className: "banner import-wrong", role: "alert" }) });
  }

  window.gpusimView = { leftOut, state, $, send, plot, meta, current, setWindow, home, zoom, pan, select, lanes, showRange, timeText };

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.gpusim = {
    /* The server's figure, at the window where the user is by now. One of a case that was left while it was drawn
       is drawn anew. */
    place: function (figure, held, viewport) {
      if (!figure || !figure.layout) return same();
      const info = figure.layout.meta;
      if (held && held.key !== info.case) {
        send("viewport", { data: { ...viewport } });
        return same();
      }
      if (state.live && state.live.case === info.case) figure.layout.xaxis.range = [state.live.low, state.live.high];
      const range = figure.layout.xaxis.range;
      showRange(range[0], range[1]);
      setTimeout(window.gpusimBind, 0);
      return { data: figure.data, layout: figure.layout };
    },
    /* The case of the first picture of it, whose advice may be asked for once nothing else is changed: its dozen
       predictions would hold up the next picture. */
    advisable: function (figure, known) {
      const key = figure && figure.layout && figure.layout.meta.case;
      clearTimeout(advising);
      if (key && key !== known) advising = setTimeout(() => send("advised", { data: key }), ADVICE_MS);
      return same();
    },
    remember: function (held, area, mode) {
      if (!held) return same();
      const wanted = new URLSearchParams(location.search).get("scenario");
      /* Of a longer address browsers do not tell the server where they are. */
      if (state.case === null && location.search.length > MOST_LETTERS + 1)
        leftOut("The address is longer than " + MOST_LETTERS + " letters: changes in it are left out.");
      if (state.case === null && wanted && wanted !== held.name) {
        state.case = held.key;
        send("scenario", { value: wanted });
        return same();
      }
      if (state.case !== held.key) { state.case = held.key; state.live = null; state.lanes = {}; }
      if (area && area.case === held.key && !state.live) state.live = area;
      state.name = held.name;
      const query = new URLSearchParams();
      query.set("scenario", held.name);
      if (held.point && held.point !== "own") query.set("point", held.point);
      for (const change of held.changes || []) query.append("set", change);
      if ((held.changes || []).length && held.against === "unchanged") query.set("against", held.against);
      if (mode && mode !== "stacked") query.set("mode", mode);
      if (area && area.case === held.key) { query.set("from", area.low.toFixed(4)); query.set("to", area.high.toFixed(4)); }
      /* Another scenario is a place to come back from; all else about the view is not. */
      const before = new URLSearchParams(location.search).get("scenario");
      const keep = before && before !== held.name ? "pushState" : "replaceState";
      const text = keep === "replaceState" ? state.text : "";
      history[keep](null, "", "?" + query.toString() + text);
      return "";
    },
    /* A file of a figure that stands for itself: plotly draws it beside the page, at twice the pixels of a screen. */
    picture: function (wanted) {
      if (!wanted) return same();
      const { width, height } = wanted.figure.layout;
      const how = { format: wanted.format, width: width, height: height, filename: wanted.name };
      window.Plotly.downloadImage(wanted.figure, wanted.format === "png" ? { ...how, scale: 2 } : how);
      return same();
    },
    help: () => true,
    fold: (clicks, hidden) => !hidden,
    toggleTheme: (clicks, theme) => (theme === "dark" ? "light" : "dark"),
    theme: function (theme) {
      document.documentElement.dataset.theme = theme === "dark" ? "dark" : "light";
      return theme === "dark" ? "dark" : "light";
    },
    zoomIn: function () { zoom(0.5); return same(); },
    zoomOut: function () { zoom(2); return same(); },
    zoomHome: function () { home(); return same(); },
  };

  window.dashMantineFunctions = window.dashMantineFunctions || {};
  window.dashMantineFunctions.scenarioOption = function (item) {
    const make = window.React.createElement;
    return make("div", { className: "option" + (item.checked ? " checked" : "") },
      make("div", { className: "option-question" }, item.option.question || item.option.label),
      make("div", { className: "option-name" }, item.option.label + " · " + item.option.state));
  };

  window.addEventListener("popstate", function () {
    const wanted = new URLSearchParams(location.search).get("scenario");
    if (state.name && wanted !== state.name) location.reload();
  });
})();
