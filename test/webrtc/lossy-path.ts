import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { onEnd } from "../support/start-service.ts";

export interface LossyPath {
  /** Where clients send to. */
  readonly port: number;
  readonly lost: number;
}

/** A way of datagrams between clients and a port of this computer. `isLost` is asked for each packet of media to a client; everything else arrives. */
export async function startLossyPath(to: number, isLost: () => boolean): Promise<LossyPath> {
  const front = await boundSocket();
  const path = { port: front.address().port, lost: 0 };
  const behind = new Map<number, Promise<Socket>>();
  async function socketFor(client: number): Promise<Socket> {
    const socket = await boundSocket();
    socket.on("message", (datagram) => {
      if ((datagram[0] as number) >= 128 && isLost()) path.lost++;
      else front.send(datagram, client, "127.0.0.1");
    });
    return socket;
  }
  front.on("message", (datagram, { port }) => {
    const socket = behind.get(port) ?? socketFor(port);
    behind.set(port, socket);
    void socket.then((known) => known.send(datagram, to, "127.0.0.1"));
  });
  return path;
}

async function boundSocket(): Promise<Socket> {
  const socket = createSocket({ type: "udp4", recvBufferSize: 4 << 20 });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onEnd(() => socket.close());
  return socket;
}
