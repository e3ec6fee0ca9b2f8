import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type AmfValue, readAmf, writeAmf } from "../../servers/rtsp/rtmp/amf0.ts";
import { ChunkReader, messageType, type RtmpMessage, writeMessage } from "../../servers/rtsp/rtmp/chunk-stream.ts";
import { until } from "../support/until.ts";
import { onEnd, type RtspUnderTest } from "./harness.ts";

/** Without "/live". */
export const rtmpUrl = (server: RtspUnderTest): string => server.urlOf("RTMP").replace(/\/live$/, "");

/** A client by RTMP that sends what it likes. */
export class RawPublisher {
  readonly messages: (RtmpMessage & { readonly values: readonly AmfValue[] })[] = [];
  closed = false;
  readonly socket: Socket;
  readonly #chunks = new ChunkReader({ messageBytes: 1 << 20, chunkStreams: 64 });

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("close", () => {
      this.closed = true;
    });
    let skipped = 0;
    socket.on("data", (bytes) => {
      const skip = Math.min(bytes.length, 1 + 2 * 1_536 - skipped);
      skipped += skip;
      for (const message of this.#chunks.push(bytes.subarray(skip)))
        this.messages.push({ ...message, values: message.type === messageType.command ? readAmf(message.payload) : [] });
    });
  }

  static async connect(server: RtspUnderTest): Promise<RawPublisher> {
    const socket = connect(Number(new URL(rtmpUrl(server)).port), "127.0.0.1");
    onEnd(() => socket.destroy());
    await once(socket, "connect");
    return new RawPublisher(socket);
  }

  /** One that may send media to live/`name`. */
  static async publish(server: RtspUnderTest, name: string): Promise<RawPublisher> {
    const client = await RawPublisher.connect(server);
    client.shakeHands();
    client.command("connect", 1, { app: "live" });
    client.command("publish", 2, null, name, "live");
    await until(() => client.status());
    return client;
  }

  shakeHands(): void {
    this.socket.write(Buffer.concat([Buffer.from([3]), Buffer.alloc(2 * 1_536)]));
  }

  command(...values: readonly AmfValue[]): void {
    this.socket.write(writeMessage({ type: messageType.command, chunkStream: 3, stream: 0, payload: writeAmf(values) }));
  }

  status(): unknown {
    return this.messages.findLast(({ values }) => values[0] === "onStatus")?.values[3];
  }
}
