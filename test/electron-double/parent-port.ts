/** Gives a forked child the process.parentPort of an Electron utility process, and takes away what such a one has not. */
import { EventEmitter } from "node:events";

const send = process.send?.bind(process);
const port = Object.assign(new EventEmitter(), { postMessage: (message: object) => void send?.(message, undefined, undefined, () => {}) });
process.on("message", (data) => port.emit("message", { data, ports: [] }));
// Chromium ends such a process with its parent.
process.on("disconnect", () => process.exit(0));
Object.assign(process, { parentPort: port, send: undefined });
