import type { Socket } from "node:net";

/** What libuv asks for at a time. */
const readBytes = 65_536;
/** Filled and taken apart before anything else is read, so that one serves all sockets. */
const shared = Buffer.allocUnsafeSlow(readBytes);

interface Handle {
  useUserBuffer?(buffer: Buffer): void;
}

/** Where Node keeps its own socket's buffer, and whom it calls. */
interface Places {
  readonly buffer: symbol;
  readonly callback: symbol;
}
let places: Places | undefined;

/**
 * Node makes a buffer of 64 KiB for each read, copies what came into a second one and passes that through the stream: with many
 * clients that send little at a time a fifth of the broker's CPU. A socket that connects may have its reads go to a buffer of the
 * caller's (the option `onread` of `net.connect`); an accepted one is given the same here. False where this Node has it otherwise:
 * the caller listens to "data" then.
 */
export function readIntoSharedBuffer(socket: Socket, onChunk: (chunk: Buffer) => void): boolean {
  places ??= findPlaces(socket);
  const inside = socket as unknown as { _handle: Handle | null; [place: symbol]: unknown };
  const handle = inside._handle;
  if (!places || !(places.buffer in inside && places.callback in inside) || typeof handle?.useUserBuffer !== "function") return false;
  handle.useUserBuffer(shared);
  inside[places.buffer] = shared;
  inside[places.callback] = (count: number) => {
    // Parts of it may be kept.
    onChunk(Buffer.from(shared.subarray(0, count)));
  };
  socket.resume();
  return true;
}

function findPlaces(socket: Socket): Places | undefined {
  const symbols = Object.getOwnPropertySymbols(socket);
  const [buffer, callback] = ["kBuffer", "kBufferCb"].map((name) => symbols.find(({ description }) => description === name));
  return buffer && callback && { buffer, callback };
}
