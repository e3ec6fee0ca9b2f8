import type { Socket } from "node:net";

/** The size of libuv's reads. */
const readBytes = 65_536;
/** The bytes are processed before the next read, so one buffer serves all sockets. */
const shared = Buffer.allocUnsafeSlow(readBytes);

interface Handle {
  useUserBuffer?(buffer: Buffer): void;
}

/** Internal symbols under which Node stores a socket's buffer and its callback. */
interface Places {
  readonly buffer: symbol;
  readonly callback: symbol;
}
let places: Places | undefined;

/**
 * Node allocates 64 KiB for each read, copies the bytes into a second buffer and passes that through the stream; with many clients
 * that send small packets this took a fifth of the broker's CPU. For outgoing connections the option `onread` of `net.connect` reads
 * into a buffer of the caller; this does the same for accepted ones. False if this version of Node works differently: the caller then
 * listens to "data".
 */
export function readIntoSharedBuffer(socket: Socket, onChunk: (chunk: Buffer) => void): boolean {
  places ??= findPlaces(socket);
  const inside = socket as unknown as { _handle: Handle | null; [place: symbol]: unknown };
  const handle = inside._handle;
  if (!places || !(places.buffer in inside && places.callback in inside) || typeof handle?.useUserBuffer !== "function") return false;
  handle.useUserBuffer(shared);
  inside[places.buffer] = shared;
  inside[places.callback] = (count: number) => {
    // Copied, since parts of the bytes may be kept.
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
