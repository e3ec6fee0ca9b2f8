/** `node --import register.ts dist/electron/main.cjs`: the built main runs unmodified, with the double as its "electron". */
import { registerHooks } from "node:module";

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "electron" ? { url: new URL("electron.ts", import.meta.url).href, shortCircuit: true } : next(specifier, context),
});

// A packaged program has no folder among its arguments.
if (process.env.BACKLOT_DOUBLE_PACKAGED === "1") process.argv.splice(1, 1);
