import type { Log } from "../../core/service/log.ts";
import { countText } from "../../core/service/quantity.ts";

/** Most log lines a second, and most clients counted: bounds log and memory under load. */
const loggedLines = 5;
const countedClients = 10_000;

/** `topic` is that of the last warning. */
type TallyLine = (clientId: string, why: string, topic: string, count: number) => string;
interface Tally {
  count: number;
  topic: string;
}

/** Frequent warnings: counted by client and reason, and logged once a second, the most frequent first. */
export class TalliedWarnings {
  private readonly counts = new Map<string, Map<string, Tally>>();
  private readonly log: Pick<Log, "warning">;
  private readonly line: TallyLine;
  private readonly more: (kinds: string) => string;

  constructor(log: Pick<Log, "warning">, line: TallyLine, more: (kinds: string) => string) {
    this.log = log;
    this.line = line;
    this.more = more;
  }

  count(clientId: string, why: string, topic = ""): void {
    let reasons = this.counts.get(clientId);
    if (!reasons) {
      if (this.counts.size >= countedClients) return;
      reasons = new Map();
      this.counts.set(clientId, reasons);
    }
    const tally = reasons.get(why);
    if (!tally) reasons.set(why, { count: 1, topic });
    else {
      tally.count++;
      tally.topic = topic;
    }
  }

  flush(): void {
    if (this.counts.size === 0) return;
    const all = [...this.counts].flatMap(([clientId, reasons]) => [...reasons].map(([why, tally]) => ({ clientId, why, ...tally })));
    all.sort((one, other) => other.count - one.count);
    for (const { clientId, why, count, topic } of all.slice(0, loggedLines)) this.log.warning(this.line(clientId, why, topic, count));
    if (all.length > loggedLines) this.log.warning(this.more(countText(all.length - loggedLines)));
    this.counts.clear();
  }
}
