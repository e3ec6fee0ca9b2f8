import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { BudgetShare, SharedBudget } from "../../core/limits/shared-budget.ts";
import { addressText, plainAddress } from "../../core/net/client-socket.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { WorkShare } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { AmfError, type AmfObject, type AmfValue, readAmf, writeAmf } from "./amf0.ts";
import {
  type ChunkLimits,
  ChunkReader,
  messageType,
  RtmpError,
  type RtmpMessage,
  type SentMessage,
  sentChunkBytes,
  writeMessage,
} from "./chunk-stream.ts";
import { targetOf } from "./rtmp-target.ts";
import { SilenceTimer } from "./silence-timer.ts";
import { costOfMedia, type RtmpListenOptions, type RtmpPublish } from "./worker-messages.ts";

export interface RtmpConnectionParts {
  readonly limits: Pick<RtmpListenOptions, "messageBytes" | "silenceMs">;
  /** Of all connections. */
  readonly turns: WorkTurns;
  /** The bytes of messages that are not complete, or that the service has not taken, of all connections. */
  readonly held: SharedBudget;
  /** The client wants to publish; `accept` or `refuse` answers. */
  readonly onPublish: (publish: RtmpPublish) => void;
  readonly onMedia: (message: RtmpMessage) => void;
  /** Called once. */
  readonly onClosed: (reason: string) => void;
}

type State = "handshake" | "connecting" | "waiting" | "publishing" | "closed";

const signatureBytes = 1_536;
/** §5.2.1: of the client's C0, and ours. */
const protocolVersion = 3;
/** Answers that wait for the client: nothing more of what it sends is carried out. Each takes far more memory than its bytes. */
const mostUnsentBytes = 4_096;
const windowBytes = 2_500_000;
/** What the messages cost that the service has not taken; then nothing more is read. */
const mostUntaken = 8 << 20;
const longestName = 1_000;
/** Commands of publishers have some hundred bytes. Nothing longer is needed before one may publish. */
const mostCommandBytes = 64 << 10;
const publishedStream = 1;
/** User control events (§7.1.7). */
const streamBegin = 0;
const pingRequest = 6;
const pingResponse = 7;
/** For the last message to reach a client that is disconnected. */
const lingerMs = 1_000;

/** One client, from the handshake to the end. It may publish one stream; it cannot play. */
export class RtmpConnection {
  readonly #socket: Socket;
  readonly #parts: RtmpConnectionParts;
  readonly #chunks: ChunkReader;
  readonly #chunkLimits: ChunkLimits;
  readonly #share: WorkShare;
  readonly #held: BudgetShare;
  readonly #openedAt = Date.now();
  readonly remote: string;
  readonly #address: string;
  #state: State = "handshake";
  /** Of the handshake. */
  #handshake: Buffer = noBytes;
  #handshakeBytes = 0;
  #hasAnswered = false;
  #app = "";
  #serverUrl = "";
  #userAgent = "";
  #untaken = 0;
  /** It leaves answers unread: `#written` goes on. */
  #isBehind = false;
  /** More waits for the service than may. */
  #isFull = false;
  /** The messages that were received and are worked off in another turn. */
  #messages: Generator<RtmpMessage> | undefined;
  #ackWindow = windowBytes;
  #acknowledged = 0;
  readonly #silence: SilenceTimer;
  /** After `close`. */
  #lingering: NodeJS.Timeout | undefined;
  #reason = "";

  constructor(socket: Socket, parts: RtmpConnectionParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#chunkLimits = { messageBytes: Math.min(mostCommandBytes, parts.limits.messageBytes), chunkStreams: 64 };
    this.#chunks = new ChunkReader(this.#chunkLimits);
    this.#address = plainAddress(socket.remoteAddress ?? "");
    this.#held = parts.held.open(this.#address, () =>
      this.close("what waited of its messages was most, and RTMP_ALL_MESSAGE_BYTES is exceeded"),
    );
    this.#share = parts.turns.join(this.#address, this.#work);
    this.remote = addressText(socket.remoteAddress, socket.remotePort);
    socket.setNoDelay(true);
    const mayGoOn = (hasRead: boolean) => this.#state === "publishing" && (hasRead || this.#isFull || this.#messages !== undefined);
    this.#silence = new SilenceTimer(socket, parts.limits.silenceMs, mayGoOn, (reason) => this.close(reason));
    this.#silence.restart("it did not publish in time");
    socket.on("data", (bytes) => this.#receive(bytes));
    // "close" follows.
    socket.on("error", () => {});
    socket.once("close", () => {
      this.#silence.clear();
      clearTimeout(this.#lingering);
      this.#state = "closed";
      this.#untaken = 0;
      this.#free();
      this.#held.close();
      this.#parts.onClosed(this.#reason || "the client has disconnected");
    });
  }

  accept(): void {
    if (this.#state !== "waiting") return;
    this.#state = "publishing";
    this.#status("status", "NetStream.Publish.Start", "Publishing");
    this.#silence.restart("it sent nothing for too long");
  }

  /** `code` is one of NetStream. */
  refuse(code: string, reason: string): void {
    if (this.#state === "waiting" || this.#state === "publishing") this.#status("error", code, reason);
    this.close(reason);
  }

  taken(cost: number): void {
    this.#untaken -= cost;
    this.#count();
    // Until then nothing was read of it.
    if (this.#isFull) this.#silence.refresh();
    this.#setReading();
  }

  #setReading(): void {
    this.#isFull = this.#untaken > (this.#isFull ? mostUntaken / 2 : mostUntaken);
    if (this.#isFull || this.#messages) this.#socket.pause();
    else this.#socket.resume();
  }

  close(reason: string): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#reason = reason;
    this.#silence.clear();
    this.#free();
    this.#socket.end();
    this.#lingering = setTimeout(() => this.#socket.destroy(), lingerMs);
  }

  /** At once: its place is another one's. */
  lose(reason: string): void {
    this.close(reason);
    this.#socket.destroy();
  }

  /** What is not complete is of no use any more. */
  #free(): void {
    this.#chunks.clear();
    this.#count();
  }

  #count(): void {
    this.#held.set(this.#chunks.heldBytes + this.#untaken);
  }

  #receive(bytes: Buffer): void {
    if (this.#state === "closed") return;
    try {
      this.#messages = this.#chunks.push(this.#state === "handshake" ? this.#shakeHands(bytes) : bytes);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#work();
  }

  readonly #work = (): void => {
    const messages = this.#messages;
    if (!messages) return;
    try {
      while (!this.#isClosed()) {
        if (this.#socket.writableLength > mostUnsentBytes) {
          this.#isBehind = true;
          break;
        }
        if (this.#share.isOver) {
          this.#share.later();
          break;
        }
        const next = messages.next();
        if (next.done) {
          this.#messages = undefined;
          this.#acknowledge();
          break;
        }
        this.#take(next.value);
      }
    } catch (error) {
      this.#fail(error);
    }
    if (this.#isClosed()) this.#messages = undefined;
    else this.#count();
    this.#setReading();
  };

  #fail(error: unknown): void {
    const isOfClient = error instanceof RtmpError || error instanceof AmfError;
    this.close(isOfClient ? error.message : `an error of the service: ${errorText(error)}`);
  }

  /** It may have been closed by what was received. */
  #isClosed(): boolean {
    return this.#state === "closed";
  }

  /** §5.2. Returns what is behind C2. */
  #shakeHands(bytes: Buffer): Buffer {
    if (this.#handshakeBytes === 0 && bytes.length > 0) {
      if (bytes[0] !== protocolVersion) throw new RtmpError("what it speaks is not RTMP");
      // In one piece: each of its bytes may come alone.
      this.#handshake = Buffer.allocUnsafeSlow(1 + 2 * signatureBytes);
    }
    const taken = bytes.copy(this.#handshake, this.#handshakeBytes);
    this.#handshakeBytes += taken;
    if (this.#handshakeBytes < 1 + signatureBytes) return noBytes;
    if (!this.#hasAnswered) {
      this.#hasAnswered = true;
      // The four bytes after the time are zero: clients then expect no digest of Flash in it.
      const own = Buffer.concat([Buffer.alloc(8), randomBytes(signatureBytes - 8)]);
      this.#socket.write(Buffer.concat([Buffer.from([protocolVersion]), own, this.#handshake.subarray(1, 1 + signatureBytes)]));
    }
    if (this.#handshakeBytes < this.#handshake.length) return noBytes;
    this.#state = "connecting";
    this.#handshake = noBytes;
    return bytes.subarray(taken);
  }

  #take(message: RtmpMessage): void {
    switch (message.type) {
      case messageType.command:
        this.#command(message.payload);
        return;
      case messageType.command3:
        // A byte that says that AMF 0 follows.
        this.#command(message.payload.subarray(1));
        return;
      case messageType.windowSize:
        if (message.payload.length >= 4) this.#ackWindow = Math.max(1, message.payload.readUInt32BE());
        return;
      case messageType.userControl:
        this.#userControl(message.payload);
        return;
      case messageType.audio:
      case messageType.video:
      case messageType.data:
        this.#media(message);
        return;
      case messageType.data3:
        this.#media({ ...message, type: messageType.data, payload: withoutFirst(message.payload) });
        return;
      default:
        return;
    }
  }

  #media(message: RtmpMessage): void {
    // One without a byte says nothing, and has no memory that could be passed on.
    if (this.#state !== "publishing" || message.payload.length === 0) return;
    this.#silence.refresh();
    // The payload is passed to another thread.
    this.#untaken += costOfMedia(message.payload);
    this.#parts.onMedia(message);
  }

  #command(payload: Buffer): void {
    if (payload.length > mostCommandBytes) throw new RtmpError(`a command of ${payload.length} bytes is too long`);
    const [name, transaction, ...values] = readAmf(payload);
    const id = typeof transaction === "number" ? transaction : 0;
    switch (name) {
      case "connect":
        this.#connect(id, objectOf(values[0]));
        return;
      case "createStream":
        this.#answer("_result", id, [null, publishedStream]);
        return;
      case "publish":
        this.#publish(textOf(values[1]));
        return;
      case "play":
      case "play2":
        this.#status("error", "NetStream.Play.Failed", "RTMP is for publishing here: play by RTSP, HLS or MPEG-TS");
        this.close("it wants to play; RTMP is for publishing");
        return;
      case "FCUnpublish":
      case "deleteStream":
      case "closeStream":
        this.close("the publisher has left");
        return;
      default:
        // releaseStream, FCPublish, _checkbw, getStreamLength: clients ask them and wait for any answer.
        if (id > 0) this.#answer("_result", id, [null, null]);
    }
  }

  #connect(id: number, fields: AmfObject): void {
    if (this.#app !== "") throw new RtmpError("it connects twice");
    this.#app = textOf(fields.app);
    this.#serverUrl = textOf(fields.tcUrl);
    this.#userAgent = textOf(fields.flashVer);
    const fourBytes = (value: number) => Buffer.from([value >>> 24, (value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff]);
    this.#control(messageType.windowSize, fourBytes(windowBytes));
    // 2: dynamic (§5.4.5).
    this.#control(messageType.peerBandwidth, Buffer.concat([fourBytes(windowBytes), Buffer.from([2])]));
    this.#control(messageType.setChunkSize, fourBytes(sentChunkBytes));
    this.#answer("_result", id, [
      { fmsVer: "FMS/3,0,1,123", capabilities: 31 },
      { level: "status", code: "NetConnection.Connect.Success", description: "Connection succeeded", objectEncoding: 0 },
    ]);
  }

  #publish(streamName: string): void {
    if (this.#state !== "connecting") throw new RtmpError("it publishes twice");
    this.#control(messageType.userControl, Buffer.from([0, streamBegin, 0, 0, 0, publishedStream]));
    this.#state = "waiting";
    this.#chunkLimits.messageBytes = this.#parts.limits.messageBytes;
    // Until the service has answered.
    this.#silence.clear();
    this.#parts.onPublish({
      ...targetOf(this.#app, streamName, this.#serverUrl),
      userAgent: this.#userAgent,
      address: this.#address,
      remote: this.remote,
      local: addressText(this.#socket.localAddress, this.#socket.localPort),
      openedAt: this.#openedAt,
    });
  }

  #userControl(payload: Buffer): void {
    if (payload.length < 6 || payload.readUInt16BE() !== pingRequest) return;
    const response = Buffer.from(payload.subarray(0, 6));
    response.writeUInt16BE(pingResponse);
    this.#control(messageType.userControl, response);
  }

  /** §5.4.3. */
  #acknowledge(): void {
    const { bytesRead } = this.#socket;
    if (bytesRead - this.#acknowledged < this.#ackWindow || this.#isClosed()) return;
    this.#acknowledged = bytesRead;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(bytesRead >>> 0);
    this.#control(messageType.acknowledgement, count);
  }

  #status(level: "status" | "error", code: string, description: string): void {
    this.#write({
      type: messageType.command,
      chunkStream: 3,
      stream: publishedStream,
      payload: writeAmf(["onStatus", 0, null, { level, code, description }]),
    });
  }

  #answer(name: "_result", id: number, values: readonly AmfValue[]): void {
    this.#write({ type: messageType.command, chunkStream: 3, stream: 0, payload: writeAmf([name, id, ...values]) });
  }

  #control(type: number, payload: Buffer): void {
    this.#write({ type, chunkStream: 2, stream: 0, payload });
  }

  #write(message: SentMessage): void {
    if (this.#socket.writable) this.#socket.write(writeMessage(message), this.#written);
  }

  readonly #written = (): void => {
    if (!this.#isBehind) return;
    this.#isBehind = false;
    this.#work();
  };
}

const noBytes = Buffer.alloc(0);
/** In memory of its own: it is passed to another thread. */
function withoutFirst(payload: Buffer): Buffer {
  const rest = Buffer.allocUnsafeSlow(Math.max(0, payload.length - 1));
  payload.copy(rest, 0, 1);
  return rest;
}
/** In memory of its own: a part of a text keeps all of it. */
const textOf = (value: AmfValue | undefined): string =>
  typeof value === "string" ? Buffer.from(value.slice(0, longestName)).toString() : "";
const objectOf = (value: AmfValue | undefined): AmfObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as AmfObject) : {};
