import { Worker } from "node:worker_threads";
import { workerFile } from "../../core/files/asset-file.ts";
import { FaultLog } from "../../core/net/fault-log.ts";
import { ThreadSockets } from "../../core/net/thread-sockets.ts";
import type { Log } from "../../core/service/log.ts";
import { errorOfFailure, errorText } from "../../core/service/service-error.ts";
import type { WorkShare } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { SessionRecorder } from "../observe/session-recorder.ts";
import { isPathName } from "../protocol/header-fields.ts";
import { RtspRefusal } from "../protocol/message.ts";
import type { Access } from "../sessions/access.ts";
import type { Paths } from "../streams/paths.ts";
import type { StreamLimits } from "../streams/stream.ts";
import { RtmpPublisher } from "./rtmp-publisher.ts";
import { costOfMedia, type FromRtmpWorker, type RtmpListenOptions, type RtmpPublish, type ToRtmpWorker } from "./worker-messages.ts";

export interface RtmpIngestOptions extends RtmpListenOptions {
  readonly paths: Paths;
  readonly access: Access;
  readonly recorder: SessionRecorder;
  readonly limits: StreamLimits;
  /** Of all connections of the service. */
  readonly turns: WorkTurns;
  readonly log: Log;
  /** Given by tests. */
  readonly worker?: string;
  /** Between two pings of the worker; tests wait for less. */
  readonly pingMs?: number;
}

const firstRestartMs = 500;
const longestRestartMs = 30_000;
/** After a run longer than this, the pause before a restart is the shortest again. */
const healthyMs = 60_000;
const mostHeapMebibytes = 256;
const standardPingMs = 5_000;
/** After so many a worker counts as hung. Several, since a computer that was suspended misses one. */
const mostUnansweredPings = 3;

type OfPublisher = Extract<FromRtmpWorker, { readonly publisher: number }>;

/** Publishers by RTMP, which a worker receives. If the worker dies, or answers no more, they are disconnected, and it is started again with growing pauses. */
export class RtmpIngest {
  readonly #options: RtmpIngestOptions;
  readonly #publishers = new Map<number, RtmpPublisher>();
  /** Those whose rights are being checked. */
  readonly #asking = new Set<number>();
  /** From the worker: what waits of each publisher. */
  readonly #inputs = new Map<number, PublisherInput>();
  /** Clients that were disconnected before they published. */
  readonly #dropped: FaultLog;
  #worker: Worker | undefined;
  #port: number;
  #restartMs = firstRestartMs;
  #restart: NodeJS.Timeout | undefined;
  #listenedAtMs = 0;
  #isClosed = false;
  /** Publishers so far, over all workers. */
  #nextConnection = 1;
  /** Of media, so far. */
  bytesReceived = 0;

  private constructor(options: RtmpIngestOptions) {
    this.#options = options;
    this.#dropped = FaultLog.ofInformation(options.log);
    this.#port = options.port;
  }

  /** Resolves when it listens; rejects as `listenTcp`. */
  static async listen(options: RtmpIngestOptions): Promise<RtmpIngest> {
    const ingest = new RtmpIngest(options);
    try {
      await ingest.#start();
    } catch (error) {
      await ingest.close();
      throw error;
    }
    return ingest;
  }

  get port(): number {
    return this.#port;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    this.#endAll("the service stops");
    await this.#worker?.terminate();
    this.#dropped.flush();
  }

  #start(): Promise<void> {
    const {
      worker: file = workerFile("rtsp", "rtmp-worker"),
      openToLan,
      connections,
      connectionsPerAddress,
      messageBytes,
      allMessageBytes,
      silenceMs,
      pingMs = standardPingMs,
    } = this.#options;
    const worker = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: mostHeapMebibytes } });
    this.#worker = worker;
    const sockets = new ThreadSockets((socket) => worker.postMessage({ type: "socket", socket } satisfies ToRtmpWorker));
    return new Promise((resolve, reject) => {
      let fault = "";
      let unansweredPings = 0;
      const heartbeat = setInterval(() => {
        if (unansweredPings === mostUnansweredPings) {
          clearInterval(heartbeat);
          fault = `it has not answered for ${(pingMs * mostUnansweredPings) / 1_000} s`;
          void worker.terminate();
          return;
        }
        unansweredPings++;
        worker.postMessage({ type: "ping" } satisfies ToRtmpWorker);
      }, pingMs);
      worker.on("message", (message: FromRtmpWorker) => {
        if (message.type === "listening") {
          this.#port = message.port;
          this.#listenedAtMs = performance.now();
          resolve();
        } else if (message.type === "failed") {
          fault = message.failure.message;
          reject(errorOfFailure(message.failure));
        } else if (message.type === "pong") unansweredPings = 0;
        else if (message.type === "socket") sockets.receive(message.socket);
        else if (message.type === "dropped") this.#dropped.write(`RTMP ${message.remote}: ${message.reason}`);
        else this.#inputOf(message)?.push(message);
      });
      worker.on("error", (error) => {
        fault = errorText(error);
        reject(error);
      });
      worker.on("exit", (code) => {
        clearInterval(heartbeat);
        sockets.close();
        reject(new Error(fault || `exit code ${code}`));
        this.#ended(worker, fault || `exit code ${code}`);
      });
      this.#post({
        type: "listen",
        options: { port: this.#port, openToLan, connections, connectionsPerAddress, messageBytes, allMessageBytes, silenceMs },
        sockets: sockets.bound,
      });
    });
  }

  #ended(worker: Worker, fault: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const input of this.#inputs.values()) input.clear();
    this.#inputs.clear();
    this.#endAll("RTMP has ended unexpectedly");
    if (this.#isClosed) return;
    if (this.#listenedAtMs > 0 && performance.now() - this.#listenedAtMs > healthyMs) this.#restartMs = firstRestartMs;
    this.#options.log.error(`RTMP has ended unexpectedly: ${fault}. It starts again in ${this.#restartMs / 1_000} s.`);
    this.#restart = setTimeout(() => void this.#startAgain(), this.#restartMs);
    this.#restartMs = Math.min(longestRestartMs, 2 * this.#restartMs);
  }

  async #startAgain(): Promise<void> {
    try {
      await this.#start();
      this.#options.log.notable(`RTMP listens again on port ${this.#port}`);
    } catch {
      // A worker that cannot listen ends like one that dies.
      await this.#worker?.terminate();
    }
  }

  #endAll(reason: string): void {
    for (const publisher of [...this.#publishers.values()]) publisher.end(reason, "server");
    this.#publishers.clear();
    this.#asking.clear();
  }

  #post(message: ToRtmpWorker): void {
    this.#worker?.postMessage(message);
  }

  #inputOf(message: OfPublisher): PublisherInput | undefined {
    const known = this.#inputs.get(message.publisher);
    if (known || message.type !== "publish") return known;
    const input = new PublisherInput(this.#options.turns, message.publish.address, (received) => this.#receive(received));
    this.#inputs.set(message.publisher, input);
    return input;
  }

  #receive(message: OfPublisher): void {
    switch (message.type) {
      case "publish":
        void this.#publish(message.publisher, message.publish);
        return;
      case "media": {
        const { publisher, kind, timestamp, payload } = message;
        this.bytesReceived += payload.length;
        this.#post({ type: "taken", publisher, cost: costOfMedia(payload) });
        this.#receiveMedia(
          this.#publishers.get(publisher),
          kind,
          timestamp,
          Buffer.from(payload.buffer, payload.byteOffset, payload.length),
        );
        return;
      }
      case "gone":
        this.#inputs.delete(message.publisher);
        this.#asking.delete(message.publisher);
        this.#publishers.get(message.publisher)?.end(message.reason, "client");
        return;
      default:
        message satisfies never;
    }
  }

  #receiveMedia(publisher: RtmpPublisher | undefined, kind: number, timestamp: number, payload: Buffer): void {
    try {
      publisher?.receive(kind, timestamp, payload);
    } catch (error) {
      this.#options.log.error(`RTMP ${publisher?.path}: ${errorText(error)}`);
      publisher?.end("internal error", "server");
    }
  }

  async #publish(number: number, publish: RtmpPublish): Promise<void> {
    const { paths, access, recorder, limits, log } = this.#options;
    const { path, remote, local, openedAt, userAgent } = publish;
    const entry = recorder.begin({ id: this.#nextConnection++, remote, local, openedAt, tls: undefined, isTunnel: false });
    entry.path = path;
    entry.begins("publish", userAgent, "RTMP");
    const worker = this.#worker;
    this.#asking.add(number);
    const hasLeft = () => this.#worker !== worker || !this.#asking.has(number);
    try {
      if (!isPathName(path)) throw new RtspRefusal(404, "the application and the stream's name do not make a path");
      const user = await access.check({
        method: "publish",
        path,
        right: "publish",
        client: { address: publish.address, connection: publish, hasLeft },
        authorization: authorizationOf(publish),
      });
      if (hasLeft()) {
        recorder.endConnection(entry);
        return;
      }
      this.#asking.delete(number);
      paths.checkPublish(path, publish.address);
      const publisher = new RtmpPublisher({
        path,
        user,
        address: publish.address,
        paths,
        limits,
        onEnd: (ended, reason, by) => {
          this.#publishers.delete(number);
          if (by !== "client") this.#post({ type: "refuse", publisher: number, code: "NetStream.Publish.BadName", reason });
          recorder.endSession(ended, reason, by);
        },
      });
      this.#publishers.set(number, publisher);
      recorder.bind(publisher, entry);
      this.#post({ type: "accept", publisher: number });
    } catch (error) {
      if (!(error instanceof RtspRefusal)) log.error(`RTMP ${remote}: ${errorText(error)}`);
      this.#asking.delete(number);
      const reason = error instanceof RtspRefusal ? error.message : "internal error";
      const code = error instanceof RtspRefusal && error.status === 401 ? "NetStream.Publish.Unauthorized" : "NetStream.Publish.BadName";
      entry.failed(reason, error instanceof RtspRefusal ? error.status : 500);
      recorder.endConnection(entry);
      this.#post({ type: "refuse", publisher: number, code, reason });
    }
  }
}

/** What the worker has received of one publisher, in order. How much of it waits is bounded by what the worker is told to be taken. */
class PublisherInput {
  readonly #share: WorkShare;
  readonly #take: (message: OfPublisher) => void;
  #waiting: OfPublisher[] = [];

  constructor(turns: WorkTurns, address: string, take: (message: OfPublisher) => void) {
    this.#share = turns.join(address, this.#work);
    this.#take = take;
  }

  push(message: OfPublisher): void {
    if (this.#waiting.push(message) === 1) this.#work();
  }

  readonly #work = (): void => {
    const waiting = this.#waiting;
    let count = 0;
    while (count < waiting.length && !this.#share.isOver) this.#take(waiting[count++] as OfPublisher);
    waiting.splice(0, count);
    if (waiting.length > 0) this.#share.later();
  };

  clear(): void {
    this.#waiting = [];
  }
}

/** RTMP gives a password as it is, so it counts as Basic. */
const authorizationOf = ({ user, password }: RtmpPublish): string | undefined =>
  user === undefined ? undefined : `Basic ${Buffer.from(`${user}:${password ?? ""}`).toString("base64")}`;
