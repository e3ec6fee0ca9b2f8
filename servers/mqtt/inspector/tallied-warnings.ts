import type { Log } from "../../core/log.ts";

/** A second's losses are told of so many, and counted for so many: a storm fills neither the log nor the memory. */
const toldLines = 5;
const countedClients = 10_000;

/** Warnings of which there may be a million a second: counted by client and reason, and told once a second, the most frequent first. */
export class TalliedWarnings {
  private readonly counts = new Map<string, Map<string, number>>();
  private readonly log: Pick<Log, "warning">;
  private readonly line: (count: string, clientId: string, why: string) => string;
  private readonly more: (kinds: string) => string;

  constructor(log: Pick<Log, "warning">, line: (count: string, clientId: string, why: string) => string, more: (kinds: string) => string) {
    this.log = log;
    this.line = line;
    this.more = more;
  }

  count(clientId: string, why: string): void {
    let reasons = this.counts.get(clientId);
    if (!reasons) {
      if (this.counts.size >= countedClients) return;
      reasons = new Map();
      this.counts.set(clientId, reasons);
    }
    reasons.set(why, (reasons.get(why) ?? 0) + 1);
  }

  tell(): void {
    if (this.counts.size === 0) return;
    const all = [...this.counts].flatMap(([clientId, reasons]) => [...reasons].map(([why, count]) => ({ clientId, why, count })));
    all.sort((one, other) => other.count - one.count);
    for (const { clientId, why, count } of all.slice(0, toldLines)) {
      this.log.warning(this.line(count.toLocaleString("en"), clientId, why));
    }
    if (all.length > toldLines) this.log.warning(this.more((all.length - toldLines).toLocaleString("en")));
    this.counts.clear();
  }
}
