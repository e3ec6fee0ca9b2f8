import type { ConnectionOptions } from "node:tls";
import type { RtspTransport, RtspTried, RtspTriedTrack, RtspTryStep } from "../../../contract/services/rtsp.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { StreamLimits } from "../streams/stream.ts";
import { type PulledMedia, pullUpstream, type Upstream } from "./pull-upstream.ts";
import { RtspFailure } from "./rtsp-client.ts";

export interface TryPlayerOptions extends StreamLimits {
  /** Of the service itself, on loopback. */
  readonly port: number;
  readonly tlsPort: number | undefined;
  readonly tls: () => Promise<ConnectionOptions>;
  readonly turns: WorkTurns;
  readonly show: (tried: RtspTried) => void;
}

export interface TryParams {
  readonly path: string;
  readonly transport: RtspTransport;
  readonly username?: string;
  readonly password?: string;
}

type Shown = Exclude<RtspTried, { readonly state: "untried" }>;

const mostSteps = 100;
const mostMessageBytes = 8_000;
/** A playback that was not stopped ends after this time. */
const longestMs = 600_000;

/** The player of the page's Try: plays one path of the service at a time, and shows each step. */
export class TryPlayer {
  readonly #options: TryPlayerOptions;
  #play: Play | undefined;

  constructor(options: TryPlayerOptions) {
    this.#options = options;
    options.show({ state: "untried" });
  }

  /** Resolves at once; the one before is ended first. */
  async play(params: TryParams): Promise<void> {
    await this.stop();
    this.#play = new Play(params, this.#options);
  }

  async stop(): Promise<void> {
    await this.#play?.stop();
    this.#play = undefined;
  }

  /** Stops with this reason. Whether it played. */
  leave(why: string): boolean {
    if (!this.#play || this.#play.hasEnded) return false;
    void this.#play.stop(why);
    return true;
  }

  /** Once a second. */
  tick(): void {
    this.#play?.tick();
  }
}

/** One try, from the connection to its end. */
class Play {
  readonly #options: TryPlayerOptions;
  readonly #params: TryParams;
  readonly #beganMs = performance.now();
  readonly #at = Date.now();
  readonly #steps: RtspTryStep[] = [];
  #moreSteps = 0;
  #state: Shown["state"] = "connecting";
  #media: PulledMedia | undefined;
  #upstream: Promise<Upstream | undefined>;
  /** Tracks whose first packet came. */
  readonly #arrived = new Set<number>();
  #firstPacketMs: number | undefined;
  #firstPictureMs: number | undefined;
  #pictures = 0;
  #tookMs: number | undefined;
  #failure: string | undefined;
  #status: number | undefined;

  constructor(params: TryParams, options: TryPlayerOptions) {
    this.#params = params;
    this.#options = options;
    this.#upstream = this.#open();
    this.#show();
  }

  async #open(): Promise<Upstream | undefined> {
    const { transport } = this.#params;
    try {
      const upstream = await pullUpstream({
        ...this.#options,
        url: this.#url(),
        transport: transport === "udp" || transport === "multicast" ? transport : "tcp",
        isTunnel: transport === "http",
        userAgent: "Backlot Try",
        asksOptions: true,
        onMessage: (direction, message) => this.#addMessage(direction, message.toString("utf8")),
        onPacket: (track) => this.#noteArrival(track),
        onSource: (media) => this.#watch(media),
        onDropped: (reason) => this.#end(reason),
      });
      if (this.#state === "connecting") this.#state = "playing";
      this.#show();
      return upstream;
    } catch (error) {
      if (error instanceof RtspFailure) this.#status = error.status;
      this.#end(errorText(error));
      return undefined;
    }
  }

  #url(): string {
    const { path, transport, username = "", password = "" } = this.#params;
    const { port, tlsPort } = this.#options;
    const login = username === "" ? "" : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`;
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    // RFC 6066 §3: an address is not a server name.
    return transport === "tls" ? `rtsps://${login}localhost:${tlsPort ?? 0}/${encoded}` : `rtsp://${login}127.0.0.1:${port}/${encoded}`;
  }

  #watch(media: PulledMedia): void {
    this.#media = media;
    const { stream } = media;
    stream.addFrameReader({
      onFrame: ({ track, isKey }) => {
        if (track !== stream.keyTrack) return;
        this.#pictures++;
        if (!isKey || this.#firstPictureMs !== undefined) return;
        this.#firstPictureMs = this.#sinceMs();
        this.#add({ direction: "received", title: "first picture complete" });
      },
      onEnd() {},
    });
  }

  #sinceMs(): number {
    return Math.round((performance.now() - this.#beganMs) * 10) / 10;
  }

  #noteArrival(track: number): void {
    if (this.#arrived.has(track)) return;
    this.#arrived.add(track);
    this.#firstPacketMs ??= this.#sinceMs();
    this.#add({ direction: "received", title: `first packet of track ${track}` });
  }

  #addMessage(direction: RtspTryStep["direction"], message: string): void {
    const shown = Buffer.from(message.replace(/^(Authorization: \w+)\b.*/gim, "$1 …"), "utf8");
    const title = message.slice(0, message.indexOf("\r\n"));
    this.#add({ direction, title, message: { base64: shown.toString("base64", 0, mostMessageBytes), bytes: shown.length } });
  }

  #add(step: Omit<RtspTryStep, "atMs">): void {
    if (this.#steps.length < mostSteps) this.#steps.push({ atMs: this.#sinceMs(), ...step });
    else this.#moreSteps++;
    this.#show();
  }

  #end(failure: string | undefined): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#failure = failure;
    this.#tookMs = this.#sinceMs();
    this.#show();
  }

  get hasEnded(): boolean {
    return this.#state === "ended";
  }

  /** With a reason if the user did not do it. */
  async stop(why?: string): Promise<void> {
    const upstream = await this.#upstream;
    if (this.#state === "ended") return;
    await upstream?.close();
    this.#end(why);
  }

  tick(): void {
    if (this.#state === "ended") return;
    this.#show();
    if (this.#sinceMs() > longestMs) void this.stop();
  }

  #show(): void {
    const { path, transport } = this.#params;
    this.#options.show({
      state: this.#state,
      path,
      transport,
      at: this.#at,
      moreSteps: this.#moreSteps,
      pictures: this.#pictures,
      steps: [...this.#steps],
      tracks: this.#tracks(),
      ...(this.#firstPacketMs !== undefined && { firstPacketMs: this.#firstPacketMs }),
      ...(this.#firstPictureMs !== undefined && { firstPictureMs: this.#firstPictureMs }),
      ...(this.#tookMs !== undefined && { tookMs: this.#tookMs }),
      ...(this.#failure !== undefined && { failure: this.#failure }),
      ...(this.#status !== undefined && { status: this.#status }),
    });
  }

  #tracks(): readonly RtspTriedTrack[] {
    const media = this.#media;
    return (media?.tracks ?? []).flatMap(({ title }, index) => {
      const track = media?.stream.tracks[index];
      const counts = media?.counts(index);
      if (!track || !counts) return [];
      const { packets, bytes, lost, jitterSeconds } = counts;
      return [{ codec: track.codec, transport: title, packets, bytes, lost, jitterMs: Math.round(jitterSeconds * 100_000) / 100 }];
    });
  }
}
