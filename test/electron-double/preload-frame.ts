/**
 * Source text that runs a preload script in a page before the page's own scripts, with what a sandboxed one may use.
 * There is one world only, so what the preload script keeps to itself is out of the page's reach by scope alone.
 */
export const preloadFrame = (preload: string) => `(() => {
  if (window !== window.top) return;
  const { __electronDouble: toMain } = window;
  const listeners = new Map();
  window.__electronDoubleReceive = (channel, values) => {
    for (const listener of [...(listeners.get(channel) ?? [])]) listener({}, ...values);
  };
  const strict = (name, object) => new Proxy(object, {
    get(target, key) {
      if (typeof key === "symbol" || key in target) return target[key];
      throw new Error("The electron double does not cover " + name + "." + key);
    },
  });
  const ipcRenderer = strict("ipcRenderer", {
    send(channel, ...values) { void toMain("send", channel, structuredClone(values)); },
    on(channel, listener) { listeners.set(channel, [...(listeners.get(channel) ?? []), listener]); },
    removeAllListeners(channel) { listeners.delete(channel); },
  });
  const bridged = (value) =>
    typeof value === "function" ? (...values) => bridged(value(...values))
    : value && typeof value === "object" ? Object.freeze(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, bridged(inner)])))
    : value;
  const contextBridge = strict("contextBridge", {
    exposeInMainWorld(key, api) { Object.defineProperty(window, key, { value: bridged(api), enumerable: true }); },
  });
  const require = (name) => {
    if (name === "electron") return strict("electron", { contextBridge, ipcRenderer });
    throw new Error("A sandboxed preload script cannot load " + name);
  };
  window.open = (url) => { void toMain("open", new URL(url, location.href).href, []); return null; };
  window.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[target=_blank]") : null;
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    window.open(link.href);
  });
  const module = { exports: {} };
  ((require, module, exports) => {\n${preload}\n})(require, module, module.exports);
})();`;
