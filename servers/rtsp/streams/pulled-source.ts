import type { ConnectionOptions } from "node:tls";
import { shownAddress } from "../../core/credentials/masked-secrets.ts";
import { loggedReason } from "../../core/http/record/http-log-line.ts";
import type { Log } from "../../core/service/log.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { pullUpstream, type Upstream } from "../client/pull-upstream.ts";
import { RtspRefusal } from "../protocol/message.ts";
import type { PathSource } from "./paths.ts";
import type { Stream, StreamLimits } from "./stream.ts";
import { tooManyWait, type WaitingPlaces, WaitingReaders } from "./waiting-readers.ts";

export interface PulledSourceOptions extends StreamLimits {
  readonly name: string;
  readonly url: string;
  /** For rtsps. */
  readonly tls: () => Promise<ConnectionOptions>;
  /** How long a reader waits for the stream. */
  readonly waitMs: number;
  readonly places: WaitingPlaces;
  /** How long it is fetched on after the last reader. */
  readonly idleMs: number;
  /** Bytes of packets came. */
  readonly turns: WorkTurns;
  readonly onReceived: (bytes: number) => void;
  readonly log: Log;
}

const firstRetryMs = 500;
const longestRetryMs = 15_000;

/** A stream of another server: fetched when somebody wants it, and again with growing pauses when it drops, while it has readers. */
export class PulledSource implements PathSource {
  readonly kind = "pull";
  /** Anybody may read it: management and the index page show it without a login. */
  readonly title: string;
  stream: Stream | undefined;
  readonly #options: PulledSourceOptions;
  #upstream: Upstream | undefined;
  /** When the stream began, of `performance.now()`. */
  #beganMs = 0;
  #isWanted = false;
  /** Changes when it is no longer wanted: what was under way before is of no use then. */
  #turn = 0;
  #retryMs = firstRetryMs;
  #retry: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly #waiting: WaitingReaders<Stream>;
  #lastFault = "";

  constructor(options: PulledSourceOptions) {
    this.#options = options;
    this.title = shownAddress(options.url);
    const { turns, places, waitMs } = options;
    this.#waiting = new WaitingReaders({
      ...{ turns, places, waitMs },
      refusal: (reason) =>
        new RtspRefusal(
          503,
          reason === "full" ? tooManyWait : `${this.title} cannot be fetched: ${this.#lastFault || "no answer in time"}`,
        ),
      onNobody: () => this.#restartIdle(),
    });
  }

  /** Rejects with an RtspRefusal of 503 where the stream does not come in time. */
  open(): Promise<Stream> {
    if (this.stream && this.#upstream) {
      this.#restartIdle();
      return Promise.resolve(this.stream);
    }
    const waiting = this.#waiting.wait();
    this.#want();
    return waiting;
  }

  #want(): void {
    clearTimeout(this.#idle);
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.#retryMs = firstRetryMs;
    void this.#fetch();
  }

  async #fetch(): Promise<void> {
    const { url, tls, turns, packetBytes, keptBytes, media, onReceived } = this.#options;
    const turn = this.#turn;
    const dropped = (reason: string) => turn === this.#turn && this.#dropped(reason);
    try {
      const upstream = await pullUpstream({
        url,
        tls,
        turns,
        packetBytes,
        keptBytes,
        media,
        onReaders: () => this.#restartIdle(),
        onPacket: (_, bytes) => onReceived(bytes),
        continues: this.stream && { stream: this.stream, afterSeconds: (performance.now() - this.#beganMs) / 1_000 },
        onDropped: dropped,
      });
      if (turn !== this.#turn) {
        void upstream.close();
        return;
      }
      this.#upstream = upstream;
      this.#retryMs = firstRetryMs;
      this.#lastFault = "";
      if (!this.stream) this.#beganMs = performance.now();
      const { stream } = upstream;
      this.stream = stream;
      this.#options.log.info(`/${this.#options.name}: fetching ${this.title}`);
      this.#waiting.resolve(stream);
      this.#restartIdle();
    } catch (error) {
      dropped(errorText(error));
    }
  }

  /** Anybody may read the reason, and the upstream may have had a part in it. */
  #dropped(fault: string): void {
    const reason = loggedReason(fault);
    this.#upstream = undefined;
    if (reason !== this.#lastFault) this.#options.log.warning(`/${this.#options.name}: ${this.title} dropped: ${reason}`);
    this.#lastFault = reason;
    this.#retry = setTimeout(() => void this.#fetch(), this.#retryMs);
    this.#retryMs = Math.min(longestRetryMs, 2 * this.#retryMs);
  }

  #restartIdle(): void {
    clearTimeout(this.#idle);
    if (this.#waiting.size > 0 || (this.stream?.readers ?? 0) > 0) return;
    this.#idle = setTimeout(() => this.#release("nobody reads it"), this.#options.idleMs);
  }

  #release(reason: string): void {
    this.#isWanted = false;
    this.#turn++;
    clearTimeout(this.#idle);
    clearTimeout(this.#retry);
    void this.#upstream?.close();
    this.#upstream = undefined;
    this.stream?.end(reason);
    this.stream = undefined;
    this.#waiting.reject(new RtspRefusal(503, reason));
  }

  close(reason: string): void {
    this.#release(reason);
  }
}
