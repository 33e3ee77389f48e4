/* The pages beside the timelines: links of rows and points, and the address of what is filtered. */
(function () {
  "use strict";
  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.gpusimPages = {
    /* A clicked point leads to its case. */
    go: function (address) {
      if (address) window.location.assign(address);
    },
    remember: function (technique, device, beyond, words, order) {
      const query = new URLSearchParams();
      if (technique) query.set("technique", technique);
      if (device) query.set("device", device);
      if (beyond !== "all") query.set("beyond", beyond);
      if (words) query.set("words", words);
      if (order.by !== "error" || !order.down) { query.set("by", order.by); query.set("order", order.down ? "down" : "up"); }
      const text = query.toString();
      history.replaceState(null, "", text ? "?" + text : location.pathname);
    },
    rememberDevice: function (device) {
      if (device) history.replaceState(null, "", "?" + new URLSearchParams({ device: device }));
    },
  };

  /* A whole row is its link, but for what can be clicked or marked inside of it. */
  document.addEventListener("click", function (event) {
    const row = event.target.closest && event.target.closest("tr[data-href]");
    if (!row || event.target.closest("a, button") || String(getSelection())) return;
    window.location.assign(row.dataset.href);
  });
})();
