import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Where `npm run dev` finds the control server of a running Backlot. */
const controlOrigin = process.env.BACKLOT_CONTROL ?? "http://127.0.0.1:7070";

/**
 * uPlot formats numbers for the browser's language, and so before anything is shown: in a POSIX locale, "en-US@posix", that throws.
 * The dashboard is in English.
 */
const englishPlots: Plugin = {
  name: "english-plots",
  transform(code, id) {
    if (!/[\\/]uPlot\.\w+\.js$/.test(id)) return undefined;
    if (!code.includes("nav.language")) throw new Error("uPlot no longer reads nav.language: this plugin can go.");
    return { code: code.replaceAll("nav.language", '"en-US"'), map: null };
  },
};

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Relative addresses work at a loopback URL and under app:// alike.
  base: "./",
  plugins: [react(), englishPlots],
  optimizeDeps: { exclude: ["uplot"] },
  build: {
    outDir: "../dist/renderer",
    emptyOutDir: true,
    target: "chrome130",
    // The content security policy has no `data:`: everything is a file.
    assetsInlineLimit: 0,
    // Loaded from this computer, never over a network.
    chunkSizeWarningLimit: 1_000,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Libraries change seldom and are cached apart from the program's own code.
        codeSplitting: {
          groups: [
            // The editor is loaded after the first paint.
            { name: "editor", test: /node_modules[\\/](@codemirror|@lezer|@marijn|style-mod|w3c-keyname|crelt)/, priority: 1 },
            { name: "libraries", test: /node_modules/ },
          ],
        },
      },
    },
  },
  server: { proxy: { "/control": { target: controlOrigin, ws: true, changeOrigin: true } } },
});
