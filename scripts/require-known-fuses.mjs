/** electron-builder's `afterPack`: a newer runtime may bring a fuse whose default nobody looked at. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fuseSentinel } from "./dummy-runtime.mjs";

/**
 * In Electron's order. WasmTrapHandlers, which electron-builder cannot set, keeps its default: they make WebAssembly's checks of
 * bounds fast, and switch none off.
 */
export const knownFuses = [
  "RunAsNode",
  "EnableCookieEncryption",
  "EnableNodeOptionsEnvironmentVariable",
  "EnableNodeCliInspectArguments",
  "EnableEmbeddedAsarIntegrityValidation",
  "OnlyLoadAppFromAsar",
  "LoadBrowserProcessSpecificV8Snapshot",
  "GrantFileProtocolExtraPrivileges",
  "WasmTrapHandlers",
];

/** One character per fuse: "1" on, "0" off, "r" removed. */
export async function fusesOf(binary) {
  const content = await readFile(binary);
  const found = content.indexOf(fuseSentinel);
  if (found === -1) throw new Error(`${binary} has no fuses`);
  const at = found + fuseSentinel.length;
  return content.subarray(at + 2, at + 2 + content[at + 1]).toString();
}

export async function requireKnownFuses(binary) {
  const fuses = await fusesOf(binary);
  if (fuses.length > knownFuses.length) {
    throw new Error(
      `The runtime has ${fuses.length} fuses, of which ${knownFuses.length} are known: decide the others in electron-builder.yml`,
    );
  }
}

function binaryOf({ appOutDir, electronPlatformName, packager }) {
  const { productFilename } = packager.appInfo;
  switch (electronPlatformName) {
    case "linux":
      return path.join(appOutDir, packager.executableName);
    case "win32":
      return path.join(appOutDir, `${productFilename}.exe`);
    default:
      return path.join(appOutDir, `${productFilename}.app`, "Contents/Frameworks/Electron Framework.framework/Electron Framework");
  }
}

// biome-ignore lint/style/noDefaultExport: electron-builder takes the default.
export default (context) => requireKnownFuses(binaryOf(context));
