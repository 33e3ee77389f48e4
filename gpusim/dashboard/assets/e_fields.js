/* Fields of a what-if: which are changed or wrong, and sliders in step with what is typed. A slider has stops, the
   input beside it takes any value. */
(function () {
  "use strict";
  const UNITS = { B: 1, KB: 1e3, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1048576, GiB: 1073741824,
                  s: 1, ms: 1e-3, us: 1e-6, "µs": 1e-6, ns: 1e-9 };
  const REST_MS = 90; /* a dragged slider is asked about when it rests, not at every stop on its way */
  const waiting = new Map();
  const nothing = () => window.dash_clientside.no_update;

  function amount(text) {
    const parts = /^\s*([-+.\d]+(?:e[-+]?\d+)?)\s*(\D*?)\s*$/i.exec(String(text).replace(/[_,]/g, ""));
    return parts ? Number(parts[1]) * (parts[2] ? UNITS[parts[2]] : 1) : NaN;
  }

  /* The stop nearest to what is typed, by factors where that makes sense; none for what is no number. */
  function nearest(stops, text) {
    const exact = stops.texts.indexOf(String(text));
    const value = amount(text);
    if (exact >= 0 || !Number.isFinite(value)) return exact;
    const scale = (x) => (stops.values[0] >= 0 ? Math.log(Math.max(x, 0) + 1e-9 + stops.values[1] / 4) : x);
    const far = stops.values.map((stop) => Math.abs(scale(stop) - scale(value)));
    return far.indexOf(Math.min(...far));
  }

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.gpusimFields = {
    /* Classes are those of panel.py. */
    mark: function (wrong, known, ids) {
      const changed = new Set(known.list.map((change) => change.split("=")[0]));
      return [ids.map((id) => (wrong || []).includes(id.path)),
              ids.map((id) => (changed.has(id.path) ? "field changed" : "field"))];
    },
    slide: function (text, label, at) {
      const place = nearest(label.options, text);
      return place < 0 || place === at ? nothing() : place;
    },
    type: function (at, label, text, id) {
      const key = JSON.stringify(id), stops = label.options;
      clearTimeout(waiting.get(key));
      if (nearest(stops, text) === at) return nothing();
      const value = stops.whole ? Number(stops.texts[at]) : stops.texts[at];
      waiting.set(key, setTimeout(() => window.dash_clientside.set_props(id, { value: value }), REST_MS));
      return nothing();
    },
  };

  window.dashMantineFunctions = window.dashMantineFunctions || {};
  window.dashMantineFunctions.sliderStop = (at, stops) => stops.texts[at];
})();
