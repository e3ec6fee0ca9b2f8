import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Where `npm run dev` finds the control server of a running Backlot. */
const controlOrigin = process.env.BACKLOT_CONTROL ?? "http://127.0.0.1:7070";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Relative addresses work at a loopback URL and under app:// alike.
  base: "./",
  plugins: [react()],
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
