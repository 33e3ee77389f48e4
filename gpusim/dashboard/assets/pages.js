/* The pages beside the timelines: links of rows and points, and the address of what is filtered. */
(function () {
  "use strict";
  /* An element of [tag, attributes, children]; text is text, never markup. */
  function build(node) {
    if (typeof node === "string") return document.createTextNode(node);
    const [tag, attributes, children] = node, element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children.map(build));
    return element;
  }

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.gpusimPages = {
    /* A clicked point leads to its case. */
    go: function (address) {
      if (address) window.location.assign(address);
    },
    /* Tables by the ids of what they stand in. */
    fill: function (tables) {
      for (const [id, node] of Object.entries(tables || {})) {
        const box = document.getElementById(id), all = () => [...box.querySelectorAll("button, a")];
        const at = all().indexOf(document.activeElement);
        box.replaceChildren(build(node));
        if (at >= 0 && all()[at]) all()[at].focus({ preventScroll: true });
      }
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

  const send = (id, props) => window.dash_clientside.set_props(id, props);
  document.addEventListener("click", function (event) {
    const on = (selector) => event.target.closest && event.target.closest(selector);
    const head = on("[data-order]"), one = on("[data-technique], .pressed");
    if (head) send("order", { data: JSON.parse(head.dataset.order) });
    else if (one) send("technique", { value: one.dataset.technique || null });
  });

  /* A whole row is its link, but for what can be clicked or marked inside of it. */
  document.addEventListener("click", function (event) {
    const row = event.target.closest && event.target.closest("tr[data-href]");
    if (!row || event.target.closest("a, button") || String(getSelection())) return;
    window.location.assign(row.dataset.href);
  });
})();
