import { streamBytes } from "../../core/http2/http2-session.ts";
import { type BudgetShare, SharedBudget } from "../../core/limits/shared-budget.ts";
import { LargeGarbage } from "../../core/service/large-garbage.ts";
import type { CallList, ListedCall } from "./call-list.ts";
import { StatusError } from "./status.ts";

/** Calls of a connection that are ended at once: each takes some 50 µs. */
const mostLost = 64;
/** A message may be there as what came, as what its handler keeps, and as the answer. */
const copiesOfMessage = 4;

/** What a call takes beside its header fields and messages. */
export const callBytes = streamBytes;

export interface BudgetLimits {
  readonly openCalls: number;
  readonly memoryBytes: number;
  readonly messageBytes: number;
}

/** What is bounded of a call. */
export interface BudgetedCall extends ListedCall {
  /** Among the open calls. */
  readonly isCounted: boolean;
  /** Of the memory of all calls. */
  readonly heldBytes: number;
  /** Gives back what it has of that: with a status, if it can. */
  lose(why: StatusError): void;
  /** Ends it at once, and drops what waits. */
  breakOff(error: StatusError): void;
}

/** What one connection has of what all share. */
export interface CallShares {
  /** Open calls. */
  readonly open: BudgetShare;
  /** Bytes: of the connection, its streams with their header fields, messages of the client, and what it leaves unread. */
  readonly memory: BudgetShare;
  /** What was returned of it. */
  readonly garbage: LargeGarbage;
}

/** Bounds for the calls of all connections together. Beyond one of them the connections that have most lose calls, those with most of it first. */
export class CallBudgets {
  readonly #open: SharedBudget;
  readonly #memory: SharedBudget;
  readonly #garbage = new LargeGarbage();
  readonly #exhausted: Readonly<Record<"open" | "memory", StatusError>>;

  constructor({ openCalls, memoryBytes, messageBytes }: BudgetLimits) {
    const bytes = Math.max(memoryBytes, copiesOfMessage * messageBytes);
    this.#open = new SharedBudget(openCalls, Math.min(mostLost, Math.floor(openCalls / 16)));
    this.#memory = new SharedBudget(bytes, bytes / 64);
    const exhausted = (why: string): StatusError => new StatusError("RESOURCE_EXHAUSTED", why);
    this.#exhausted = {
      open: exhausted(`more than ${openCalls} calls are open, and this connection has most of them`),
      memory: exhausted(`all clients together take more than ${bytes} bytes of memory, and this connection has most of it`),
    };
  }

  /** `breakOff` ends the connection. */
  open(address: string, calls: CallList<BudgetedCall>, breakOff: (why: string) => void = () => {}): CallShares {
    const memory = this.#memory.open(address, (excess) => {
      const ofCalls = calls.all().reduce((sum, { heldBytes }) => sum + heldBytes, 0);
      // What the connection has besides, such as heads that arrive: the end of its calls would free next to nothing, and the next connection would lose its own.
      if (ofCalls < excess && ofCalls < memory.amount - ofCalls) {
        memory.leave();
        breakOff(this.#exhausted.memory.message);
        return;
      }
      for (const call of largestOf(calls, excess, ({ heldBytes }) => heldBytes)) call.lose(this.#exhausted.memory);
    });
    return {
      open: this.#open.open(address, (excess) => {
        for (const call of largestOf(calls, excess, ({ isCounted }) => Number(isCounted))) call.breakOff(this.#exhausted.open);
      }),
      memory,
      garbage: this.#garbage,
    };
  }
}

/** Those that have most, until they have so much together, or there are too many to be ended at once. */
function largestOf(calls: CallList<BudgetedCall>, excess: number, amountOf: (call: BudgetedCall) => number): readonly BudgetedCall[] {
  const largest = calls
    .all()
    .filter((call) => amountOf(call) > 0)
    .sort((one, other) => amountOf(other) - amountOf(one));
  let count = 0;
  for (let left = excess; left > 0 && count < Math.min(mostLost, largest.length); count++) left -= amountOf(largest[count] as BudgetedCall);
  return largest.slice(0, count);
}
