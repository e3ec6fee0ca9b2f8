import type { Socket } from "node:dgram";
import { getSystemErrorName } from "node:util";

export interface DatagramSender {
  /** Undefined, or the name of the error where the system says at once that it cannot send: "EMSGSIZE". The bytes must not change later. */
  send(data: Buffer, port: number, address: string): string | undefined;
  /** As `send`, with four bytes before the data. */
  sendPrefixed(prefix: number, data: Buffer, port: number, address: string): string | undefined;
}

/** More than this waits for the network: what comes then is lost, as it would be on the way. */
const mostQueuedBytes = 4 << 20;
const queueIsFull = "ENOBUFS";

/** Inside of a socket of `node:dgram`. */
interface Handle {
  send(request: object, parts: readonly Buffer[], count: number, port: number, address: string, hasCallback: boolean): number;
  recvStart?(): unknown;
  recvStop?(): unknown;
}
type RequestType = new () => { list?: readonly Buffer[] };

/**
 * For those that send a datagram for each one that they receive. `socket.send` makes four objects and takes another turn of the queue of
 * ticks for each datagram, which costs as much as the system's call; the handle inside of the socket does not. Where this version of Node
 * works differently, `socket.send` is used. The socket must be bound.
 */
export function createDatagramSender(socket: Socket): DatagramSender {
  const handle = handleOf(socket);
  const requestType = findRequestType();
  return handle && requestType ? directSender(socket, handle, requestType) : socketSender(socket);
}

function directSender(socket: Socket, handle: Handle, Request: RequestType): DatagramSender {
  let request = new Request();
  let one: Buffer[] = [Buffer.alloc(0)];
  let prefix = Buffer.allocUnsafeSlow(4);
  let two: Buffer[] = [prefix, one[0] as Buffer];
  /** The last datagram waits for the network, and so perhaps others. */
  let waiting = false;

  /** Above 0 it was sent at once; at 0 it waits, and needs what was handed over. */
  function sendParts(parts: Buffer[], port: number, address: string): string | undefined {
    if (waiting && socket.getSendQueueSize() > mostQueuedBytes) return queueIsFull;
    const result = handle.send(request, parts, parts.length, port, address, false);
    if (result > 0) {
      waiting = false;
      return undefined;
    }
    if (result < 0) return getSystemErrorName(result);
    waiting = true;
    request.list = parts;
    request = new Request();
    if (parts === one) one = [prefix];
    else {
      prefix = Buffer.allocUnsafeSlow(4);
      two = [prefix, prefix];
    }
    return undefined;
  }

  return {
    send(data, port, address) {
      one[0] = data;
      return sendParts(one, port, address);
    },
    sendPrefixed(value, data, port, address) {
      prefix.writeUInt32BE(value);
      two[1] = data;
      return sendParts(two, port, address);
    },
  };
}

function socketSender(socket: Socket): DatagramSender {
  function sendParts(parts: readonly Buffer[], port: number, address: string): string | undefined {
    if (socket.getSendQueueSize() > mostQueuedBytes) return queueIsFull;
    socket.send(parts, port, address);
    return undefined;
  }
  return {
    send: (data, port, address) => sendParts([data], port, address),
    sendPrefixed(value, data, port, address) {
      const prefix = Buffer.allocUnsafe(4);
      prefix.writeUInt32BE(value);
      return sendParts([prefix, data], port, address);
    },
  };
}

/**
 * Of a socket that has datagrams, libuv reads up to 32 in each turn of the event loop. Called while one is handled, the rest is left to the next turn. Where this
 * version of Node works differently, nothing happens.
 */
export function leaveToNextTurn(socket: Socket): void {
  const handle = handleOf(socket);
  if (!handle?.recvStop || !handle.recvStart) return;
  handle.recvStop();
  // It may have been closed meanwhile.
  setImmediate(() => handleOf(socket)?.recvStart?.());
}

function handleOf(socket: Socket): Handle | undefined {
  const place = Object.getOwnPropertySymbols(socket).find(({ description }) => description === "state symbol");
  const state = place && (socket as unknown as Record<symbol, { handle?: Partial<Handle> | null } | undefined>)[place];
  const handle = state?.handle;
  return typeof handle?.send === "function" ? (handle as Handle) : undefined;
}

let foundRequestType: RequestType | null | undefined;

/** The type of the request that the handle expects; it has no public name. */
function findRequestType(): RequestType | undefined {
  if (foundRequestType !== undefined) return foundRequestType ?? undefined;
  try {
    const { binding } = process as unknown as { binding?: (name: string) => { SendWrap?: RequestType } };
    foundRequestType = binding?.("udp_wrap").SendWrap ?? null;
  } catch {
    foundRequestType = null;
  }
  return foundRequestType ?? undefined;
}
