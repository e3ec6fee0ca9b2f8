import { randomUUID } from "node:crypto";
import type { RedisConnections } from "../../../core/redis/redis-connections.ts";
import { errorText } from "../../../core/service/service-error.ts";
import type { WorkConnection } from "../../../core/turns/work-connection.ts";
import { WorkQueue } from "../../../core/turns/work-queue.ts";

/** Channels in Redis are shared by all databases. */
const channelOf = (database: number): string => `backlot:webrtc:${database}`;
const envelopeMark = "backlot";

export interface ClusterBusOptions<Frame> {
  readonly redis: RedisConnections;
  /** Undefined for what is no frame. */
  readonly parse: (value: unknown) => Frame | undefined;
  /** In steps. What one of them throws ends that frame alone. */
  readonly onFrame: (frame: Frame, from: string) => Iterable<void>;
  /** Bytes on the channel that no instance has sent. */
  readonly onForeign: () => void;
  /** What was published may not have arrived. */
  readonly onFailure: (reason: string) => void;
  readonly onFault: (error: unknown) => void;
  /** Redis has something, or never gets it: less waits than before. */
  readonly onSent: () => void;
  /** What the others send is worked off in its turns. */
  readonly work: WorkConnection;
}

interface Outgoing<Frame> {
  /** Of one instance; absent for all others. */
  readonly to: string | undefined;
  readonly frames: Frame[];
}

/** Characters of what is published at once, where frames are no longer: it is parsed in one step. */
const publishedAtOnce = 64 << 10;
/** Characters that wait to be worked off; while there are more, Redis is not read. */
const mostUnread = 4 << 20;

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
  private readonly received: WorkQueue;

  constructor(options: ClusterBusOptions<Frame>) {
    this.options = options;
    this.channel = channelOf(options.redis.database);
    this.received = new WorkQueue(options.work, options.onFault);
    options.redis.listening.on("message", (_channel: string, text: string) => {
      this.received.add(text.length, this.receive(text));
      this.setReading(this.received.bytes <= mostUnread);
    });
  }

  async subscribe(): Promise<void> {
    await this.options.redis.listening.subscribe(this.channel, this.ownChannel(this.instance));
  }

  /** Something of the others has arrived and is not worked off. */
  get hasUnread(): boolean {
    return this.received.bytes > 0;
  }

  /** Work that comes behind what has arrived so far, and before what arrives later. Resolves when it is done. */
  run(steps: Iterable<void>): Promise<void> {
    return new Promise((resolve) => this.received.add(0, thenCall(steps, resolve)));
  }

  private setReading(isReading: boolean): void {
    const { stream } = this.options.redis.listening;
    if (isReading) stream?.resume();
    else stream?.pause();
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
    const published = pending.flatMap(({ to, frames }) => this.envelopes(frames).map((text) => this.publish(to, text)));
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
    const [text = ""] = this.envelopes([frame]);
    return await this.options.redis.commands.publish(this.channel, text);
  }

  private async publish(to: string | undefined, text: string): Promise<void> {
    const channel = to === undefined ? this.channel : this.ownChannel(to);
    this.unsentBytes += text.length;
    try {
      await this.options.redis.commands.publish(channel, text);
    } catch (error) {
      this.options.onFailure(errorText(error));
    }
    this.unsentBytes -= text.length;
    this.options.onSent();
  }

  private envelopes(frames: readonly Frame[]): readonly string[] {
    const texts: string[] = [];
    let inner: string[] = [];
    let length = 0;
    const close = () => texts.push(`["${envelopeMark}","${this.instance}",[${inner.join(",")}]]`);
    for (const frame of frames) {
      const text = JSON.stringify(frame);
      if (inner.length > 0 && length + text.length > publishedAtOnce) {
        close();
        [inner, length] = [[], 0];
      }
      inner.push(text);
      length += text.length + 1;
    }
    close();
    return texts;
  }

  private *receive(text: string): Generator<void, void> {
    const envelope = parseEnvelope(text);
    const [, from, frames] = envelope ?? [];
    if (!envelope) this.options.onForeign();
    for (const value of (from !== this.instance && frames) || []) {
      yield;
      yield* this.take(value, from as string);
    }
    this.setReading(this.received.bytes - text.length <= mostUnread / 2);
  }

  private *take(value: unknown, from: string): Generator<void, void> {
    const frame = this.options.parse(value);
    if (frame === undefined) {
      this.options.onForeign();
      return;
    }
    try {
      yield* this.options.onFrame(frame, from);
    } catch (error) {
      this.options.onFault(error);
    }
  }
}

function* thenCall(steps: Iterable<void>, act: () => void): Generator<void, void> {
  yield* steps;
  act();
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
