/** A hostile client of HTTP/2, and a bystander beside it. */
import { connect, type Socket } from "node:net";
import { expect } from "vitest";
import { helloReply, helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { callMethod } from "./calls.ts";
import { frameTypes } from "./h2-frames.ts";
import { type GrpcUnderTest, onEnd } from "./harness.ts";

export interface HostileClient {
  readonly socket: Socket;
  /** Resolves when the system takes more, or the connection is closed. */
  write(bytes: Uint8Array): Promise<void>;
  readonly closed: Promise<void>;
  readonly isClosed: boolean;
  /** What came. */
  received(): Buffer;
  /** The code of the GOAWAY that came. */
  goaway(): number | undefined;
}

/** A connection whose bytes are written by hand; with `reads: false` it reads nothing. */
export const hostileClient = (service: GrpcUnderTest, reads = true): HostileClient => hostileConnection(service.port, reads);

export function hostileConnection(port: number, reads = true): HostileClient {
  const socket = connect(port, "127.0.0.1");
  onEnd(() => socket.destroy());
  const chunks: Buffer[] = [];
  socket.on("error", () => {});
  if (reads) socket.on("data", (chunk) => chunks.push(chunk));
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => {
      isClosed = true;
      resolve();
    });
  });
  const client: HostileClient = {
    socket,
    closed,
    get isClosed() {
      return isClosed;
    },
    async write(bytes) {
      if (isClosed || socket.destroyed || socket.write(bytes)) return;
      await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
    },
    received: () => Buffer.concat(chunks),
    goaway() {
      const bytes = client.received();
      for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
        if (bytes[at + 3] === frameTypes.goaway && at + 17 <= bytes.length) return bytes.readUInt32BE(at + 13);
      }
      return undefined;
    },
  };
  return client;
}

const bystanderCalls = 20;

/** The attack goes on until a bystander has made its calls, one after the other, and all of them were answered. */
export async function besideBystander(service: GrpcUnderTest, attack: (isOn: () => boolean) => Promise<void>): Promise<void> {
  const client = service.client();
  const call = () => callMethod(client, "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "bystander" }]);
  expect((await call()).status.code).toBe(0);
  let isOn = true;
  const attacking = attack(() => isOn);
  try {
    for (let count = 0; count < bystanderCalls; count++) expect((await call()).status.code).toBe(0);
  } finally {
    isOn = false;
  }
  await attacking;
}
