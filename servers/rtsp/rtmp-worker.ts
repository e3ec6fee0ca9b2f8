/** A worker that speaks RTMP: what a client sends, or an error of ours, never reaches the streams of the service. */
import { createServer, type Socket } from "node:net";
import { parentPort } from "node:worker_threads";
import { SharedBudget } from "../core/limits/shared-budget.ts";
import { ConnectionCount } from "../core/net/connection-count.ts";
import { endsBy } from "../core/net/open-sockets.ts";
import { listenTcp } from "../core/net/tcp-listener.ts";
import { boundThreadSockets, type ThreadSocketsBound, type ToThreadSockets } from "../core/net/thread-sockets.ts";
import { toFailure } from "../core/service/service-error.ts";
import { WorkTurns } from "../core/turns/work-turns.ts";
import { RtmpConnection } from "./rtmp/rtmp-connection.ts";
import type { FromRtmpWorker, RtmpListenOptions, ToRtmpWorker } from "./rtmp/worker-messages.ts";

const publishers = new Map<number, RtmpConnection>();
const turns = new WorkTurns();
let endSocket: ((socket: ToThreadSockets) => void) | undefined;
let begun = 0;

function post(message: FromRtmpWorker, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}

function accept(socket: Socket, options: RtmpListenOptions, held: SharedBudget): void {
  let publisher: number | undefined;
  const connection: RtmpConnection = new RtmpConnection(socket, {
    limits: options,
    turns,
    held,
    onPublish(publish) {
      publisher = ++begun;
      publishers.set(publisher, connection);
      post({ type: "publish", publisher, publish });
    },
    onMedia({ type, timestamp, payload }) {
      if (publisher !== undefined) post({ type: "media", publisher, kind: type, timestamp, payload }, [payload.buffer as ArrayBuffer]);
    },
    onClosed(reason) {
      if (publisher === undefined) post({ type: "dropped", remote: connection.remote, reason });
      else {
        publishers.delete(publisher);
        post({ type: "gone", publisher, reason });
      }
    },
  });
  endsBy(socket, (why) => connection.lose(why));
}

async function listen(options: RtmpListenOptions, sockets: ThreadSocketsBound): Promise<void> {
  try {
    endSocket = boundThreadSockets(sockets, (socket) => post({ type: "socket", socket }));
    const { port, openToLan } = options;
    const held = new SharedBudget(options.allMessageBytes);
    const connections = new ConnectionCount(options);
    const createRtmpServer = () => createServer((socket) => connections.admit(socket) && accept(socket, options, held));
    // The listeners end with the worker.
    post({
      type: "listening",
      port: await listenTcp({ port, openToLan, createServer: createRtmpServer, places: connections, onStop() {} }),
    });
  } catch (error) {
    post({ type: "failed", failure: toFailure(error) });
  }
}

parentPort?.on("message", (message: ToRtmpWorker) => {
  switch (message.type) {
    case "listen":
      void listen(message.options, message.sockets);
      return;
    case "socket":
      endSocket?.(message.socket);
      return;
    case "ping":
      post({ type: "pong" });
      return;
    case "accept":
      publishers.get(message.publisher)?.accept();
      return;
    case "refuse":
      publishers.get(message.publisher)?.refuse(message.code, message.reason);
      return;
    case "taken":
      publishers.get(message.publisher)?.taken(message.cost);
      return;
    default:
      message satisfies never;
  }
});
