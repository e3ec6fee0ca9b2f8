import { randomUUID } from "node:crypto";
import type { RedisConnections } from "../../../core/redis/redis-connections.ts";
import { errorText } from "../../../core/service/service-error.ts";

/** Channels in Redis are shared by all databases. */
const channelOf = (database: number): string => `backlot:webrtc:${database}`;
const envelopeMark = "backlot";

export interface ClusterBusOptions<Frame> {
  readonly redis: RedisConnections;
  /** Undefined for what is no frame. */
  readonly parse: (value: unknown) => Frame | undefined;
  readonly onFrame: (frame: Frame, from: string) => void;
  /** Bytes on the channel that no instance has sent. */
  readonly onForeign: () => void;
  /** What was published may not have arrived. */
  readonly onFailure: (reason: string) => void;
  /** Redis has something, or never gets it: less waits than before. */
  readonly onSent: () => void;
}

interface Outgoing<Frame> {
  /** Of one instance; absent for all others. */
  readonly to: string | undefined;
  readonly frames: Frame[];
}

/**
 * Carries frames between instances over publish and subscribe of one Redis, which gives all of them the same order. The frames of one turn of the
 * event loop are published together.
 */
export class ClusterBus<Frame> {
  /** New with each start: an instance that comes back is another one. */
  readonly instance = randomUUID().slice(0, 8);
  private readonly channel: string;
  private readonly options: ClusterBusOptions<Frame>;
  private pending: Outgoing<Frame>[] = [];
  /** Of `pending`: to each instance, behind the newest for all. */
  private readonly open = new Map<string | undefined, Outgoing<Frame>>();
  /** Bytes that were published and that Redis does not have yet. */
  unsentBytes = 0;
  private isScheduled = false;
  private last: Promise<unknown> = Promise.resolve();

  constructor(options: ClusterBusOptions<Frame>) {
    this.options = options;
    this.channel = channelOf(options.redis.database);
    options.redis.listening.on("message", (_channel: string, text: string) => this.receive(text));
  }

  async subscribe(): Promise<void> {
    await this.options.redis.listening.subscribe(this.channel, this.ownChannel(this.instance));
  }

  private ownChannel(instance: string): string {
    return `${this.channel}:${instance}`;
  }

  /** To one instance, or to all others. */
  send(frame: Frame, to?: string): void {
    const open = this.open.get(to);
    if (open) open.frames.push(frame);
    else this.add({ to, frames: [frame] });
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => this.flush());
  }

  /** Each instance gets its frames and those for all in the order in which they were sent. */
  private add(outgoing: Outgoing<Frame>): void {
    if (outgoing.to === undefined) this.open.clear();
    else this.open.delete(undefined);
    this.pending.push(outgoing);
    this.open.set(outgoing.to, outgoing);
  }

  /** The newest frame for an instance, if it waits to be published and none for all waits behind it. */
  lastSent(to: string): Frame | undefined {
    return this.open.get(to)?.frames.at(-1);
  }

  /** Publishes what waits. Resolves when Redis has it; never rejects. */
  flush(): Promise<unknown> {
    const { pending } = this;
    this.discard();
    this.isScheduled = false;
    const published = pending.map(({ to, frames }) => this.publish(to, frames));
    if (published.length > 0) this.last = Promise.all(published);
    return this.last;
  }

  /** Drops what waits. */
  discard(): void {
    this.pending = [];
    this.open.clear();
  }

  /** Publishes at once. Returns how many instances receive it, this one included; rejects if Redis is lost. */
  async announce(frame: Frame): Promise<number> {
    await this.flush();
    return await this.options.redis.commands.publish(this.channel, this.envelope([frame]));
  }

  private async publish(to: string | undefined, frames: readonly Frame[]): Promise<void> {
    const channel = to === undefined ? this.channel : this.ownChannel(to);
    const text = this.envelope(frames);
    this.unsentBytes += text.length;
    try {
      await this.options.redis.commands.publish(channel, text);
    } catch (error) {
      this.options.onFailure(errorText(error));
    }
    this.unsentBytes -= text.length;
    this.options.onSent();
  }

  private envelope(frames: readonly Frame[]): string {
    return JSON.stringify([envelopeMark, this.instance, frames]);
  }

  private receive(text: string): void {
    const envelope = parseEnvelope(text);
    if (!envelope) {
      this.options.onForeign();
      return;
    }
    const [, from, frames] = envelope;
    if (from === this.instance) return;
    for (const value of frames) {
      const frame = this.options.parse(value);
      if (frame === undefined) this.options.onForeign();
      else this.options.onFrame(frame, from);
    }
  }
}

function parseEnvelope(text: string): readonly [mark: string, from: string, frames: readonly unknown[]] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || value.length !== 3) return undefined;
  const [mark, from, frames] = value as unknown[];
  return mark === envelopeMark && typeof from === "string" && Array.isArray(frames) ? [mark, from, frames] : undefined;
}
