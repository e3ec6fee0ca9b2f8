import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { onTestFinished } from "vitest";
import { acceptWebSocket } from "../../servers/core/http/websocket/accept-web-socket.ts";
import type { ServerWebSocket } from "../../servers/core/http/websocket/server-web-socket.ts";
import type { WorkConnection } from "../../servers/core/turns/work-connection.ts";

const upgrade =
  "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

interface FrameFields {
  /** 1 to 7. */
  readonly reserved?: number;
  readonly isLast?: boolean;
  readonly mask?: readonly number[];
}

/** A frame of a client (RFC 6455 §5.2). */
export function frame(kind: number, payload: string | Uint8Array = "", { isLast = true, reserved = 0, mask }: FrameFields = {}): Buffer {
  const key = mask ?? [0x37, 0xfa, 0x21, 0x3d];
  const bytes = Buffer.from(payload);
  const extended = bytes.length < 126 ? 0 : bytes.length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + extended);
  head[0] = (isLast ? 0x80 : 0) | (reserved << 4) | kind;
  head[1] = 0x80 | (extended === 0 ? bytes.length : extended === 2 ? 126 : 127);
  if (extended === 2) head.writeUInt16BE(bytes.length, 2);
  if (extended === 8) head.writeBigUInt64BE(BigInt(bytes.length), 2);
  return Buffer.concat([head, Buffer.from(key), bytes.map((byte, index) => byte ^ (key[index & 3] as number))]);
}

/** Returns the port of a server whose WebSockets have messages of up to 1 MiB. */
export async function webSocketServer(
  work: (socket: Socket) => WorkConnection,
  onOpened: (opened: ServerWebSocket) => void,
): Promise<number> {
  const server = createServer();
  const open = new Set<Socket>();
  server.on("upgrade", (request, duplex, head) => {
    const socket = duplex as Socket;
    open.add(socket);
    const opened = acceptWebSocket(request, socket, head, { messageBytes: 1 << 20, work: work(socket) });
    if (opened) onOpened(opened);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A client that has asked for the upgrade and discards what it gets. */
export function openedClient(port: number): Socket {
  const client = connect(port, "127.0.0.1").resume();
  onTestFinished(() => void client.destroy());
  client.on("error", () => {});
  client.write(upgrade);
  return client;
}

/** The same, with the bytes that have come behind the handshake. */
export function readingClient(port: number): { readonly socket: Socket; readonly received: () => Buffer; readonly closed: Promise<void> } {
  const socket = openedClient(port);
  const pieces: Buffer[] = [];
  socket.on("data", (piece) => pieces.push(piece));
  return {
    socket,
    received() {
      const all = Buffer.concat(pieces);
      const head = all.indexOf("\r\n\r\n");
      return head < 0 ? Buffer.alloc(0) : all.subarray(head + 4);
    },
    closed: new Promise((resolve) => socket.once("close", () => resolve())),
  };
}
