import { textBytes } from "../../codec/topic.ts";
import type { EngineCounters } from "../engine-counters.ts";
import type { EngineLimits } from "../engine-limits.ts";

/** Of one client; a hundred aliases of common topics have half of it. */
const ownBytes = 16_384;
/** Memory of an alias in addition to its topic. */
const entryBytes = 100;

/** Topic aliases that a client knows. They save bytes, and take memory for as long as it is connected: without room there are no further ones. */
export class SentAliases {
  private readonly aliases = new Map<string, number>();
  private bytes = 0;
  private readonly maximum: number;
  private readonly limits: Pick<EngineLimits, "allAliasBytes">;
  private readonly counters: Pick<EngineCounters, "aliasBytes">;

  /** The client accepts `maximum` of them. */
  constructor(maximum: number, limits: Pick<EngineLimits, "allAliasBytes">, counters: Pick<EngineCounters, "aliasBytes">) {
    this.maximum = maximum;
    this.limits = limits;
    this.counters = counters;
  }

  get(topic: string): number | undefined {
    return this.aliases.get(topic);
  }

  /** That a further topic can have; 0 if none. */
  next(topic: string): number {
    const bytes = bytesOf(topic);
    const hasRoom = this.bytes + bytes <= ownBytes && this.counters.aliasBytes + bytes <= this.limits.allAliasBytes;
    return hasRoom && this.aliases.size < this.maximum ? this.aliases.size + 1 : 0;
  }

  set(topic: string, alias: number): void {
    this.aliases.set(topic, alias);
    this.bytes += bytesOf(topic);
    this.counters.aliasBytes += bytesOf(topic);
  }

  /** The client has left. */
  clear(): void {
    this.aliases.clear();
    this.counters.aliasBytes -= this.bytes;
    this.bytes = 0;
  }
}

const bytesOf = (topic: string): number => entryBytes + textBytes(topic);
