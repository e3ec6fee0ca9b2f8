import { type AcceptanceBar, eventOutcomes } from "../../contract/services/events.ts";
import type { PlotCount } from "./store/event-store.ts";

/** Names of languages, or of providers, of which each is summed for itself. A client chooses them: where there are more, the smallest half joins the others. */
const mostNames = 2_000;
const shownNames = 50;
/** More steps than a plot has: events with wrong clocks are in others. */
const mostSteps = 20_000;

interface Sum {
  total: number;
  accepted: number;
}

/** Sums up counts for a plot, in bounded memory. */
export class PlotSums {
  /** By step, as it is named; then by outcome. */
  readonly steps = new Map<string, Map<string, number>>();
  readonly languages = new Shares();
  readonly providers = new Shares();
  readonly #until: string | undefined;
  total = 0;
  accepted = 0;

  /** What is in steps behind `until` does not count. */
  constructor(until?: string) {
    this.#until = until;
  }

  add({ at, language, provider, outcome, events }: PlotCount): void {
    if (this.#until !== undefined && at > this.#until) return;
    const accepted = outcome === "accepted" ? events : 0;
    this.total += events;
    this.accepted += accepted;
    this.languages.add(language, events, accepted);
    this.providers.add(provider, events, accepted);
    let step = this.steps.get(at);
    if (!step) {
      if (this.steps.size === mostSteps) return;
      step = new Map();
      this.steps.set(at, step);
    }
    step.set(outcome, (step.get(outcome) ?? 0) + events);
  }

  /** Those of the contract, then others that a database has. */
  get outcomes(): ReadonlySet<string> {
    const found = new Set<string>(eventOutcomes);
    for (const step of this.steps.values()) for (const outcome of step.keys()) found.add(outcome);
    return found;
  }
}

/** How often was accepted, by name. */
class Shares {
  #byName = new Map<string, Sum>();
  readonly #others: Sum = { total: 0, accepted: 0 };

  add(name: string, total: number, accepted: number): void {
    let sum = this.#byName.get(name);
    if (!sum) {
      if (this.#byName.size === mostNames) this.#byName = new Map(this.#largest(mostNames / 2, this.#others));
      sum = { total: 0, accepted: 0 };
      this.#byName.set(name, sum);
    }
    sum.total += total;
    sum.accepted += accepted;
  }

  /** The 50 largest, the largest first, then all others in one. */
  bars(): AcceptanceBar[] {
    const rest = { ...this.#others };
    const bars = this.#largest(shownNames, rest).map(([name, sum]): AcceptanceBar => ({ name, ...sum }));
    return rest.total === 0 ? bars : [...bars, { name: "", isRest: true, ...rest }];
  }

  /** Adds the others to `rest`. */
  #largest(count: number, rest: Sum): [name: string, sum: Sum][] {
    const sorted = [...this.#byName].sort(([, left], [, right]) => right.total - left.total);
    for (const [, { total, accepted }] of sorted.splice(count)) {
      rest.total += total;
      rest.accepted += accepted;
    }
    return sorted;
  }
}
