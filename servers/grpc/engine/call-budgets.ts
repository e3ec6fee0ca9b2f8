import { type BudgetShare, SharedBudget } from "../../core/limits/shared-budget.ts";
import type { CallList, ListedCall } from "./call-list.ts";
import { StatusError } from "./status.ts";

/** Of the largest messages and metadata, and of what one call may leave unread. */
const mostOfEach = 64;

/** All calls that may be open may have so much metadata each. */
const usualHeadBytes = 1 << 10;

/** Of connections that wait for their turn, each with some pieces of 64 KB. */
const leastUnparsed = 64 << 20;

/** Calls of a connection that are ended at once: each takes some 50 µs. */
const mostLost = 64;

export interface BudgetLimits {
  readonly openCalls: number;
  readonly metadataBytes: number;
  readonly messageBytes: number;
  readonly unreadBytes: number;
}

/** What is bounded of a call. */
export interface BudgetedCall extends ListedCall {
  /** Among the open calls. */
  readonly isCounted: boolean;
  /** Of its header fields. */
  readonly headBytes: number;
  readonly receivedBytes: number;
  readonly unreadBytes: number;
  /** Ends it with a status. */
  fail(error: StatusError): void;
  /** Ends it at once, and drops what waits. */
  breakOff(error: StatusError): void;
}

/** What the calls of one connection have of what all calls share. */
export interface CallShares {
  readonly open: BudgetShare;
  /** Header fields of open calls. */
  readonly heads: BudgetShare;
  /** Messages of the client: those that are incomplete, being decompressed, or wait for the end of the request. */
  readonly received: BudgetShare;
  /** What its connection has received, and no call has taken. */
  readonly unparsed: BudgetShare;
  readonly unread: BudgetShare;
}

/** Bounds for the calls of all connections together. Beyond one of them the connections that have most lose calls, those with most of it first. */
export class CallBudgets {
  readonly #open: SharedBudget;
  readonly #heads: SharedBudget;
  readonly #received: SharedBudget;
  readonly #unparsed: SharedBudget;
  readonly #unread: SharedBudget;
  readonly #why: Readonly<Record<keyof CallShares, string>>;

  constructor({ openCalls, metadataBytes, messageBytes, unreadBytes }: BudgetLimits) {
    const [received, unread] = [mostOfEach * messageBytes, mostOfEach * unreadBytes];
    const heads = Math.max(mostOfEach * metadataBytes, openCalls * usualHeadBytes);
    this.#open = new SharedBudget(openCalls, Math.min(mostLost, Math.floor(openCalls / 16)));
    this.#heads = new SharedBudget(heads, heads / 64);
    this.#received = new SharedBudget(received, received / 64);
    this.#unparsed = new SharedBudget(Math.max(received, leastUnparsed));
    this.#unread = new SharedBudget(unread, unread / 64);
    this.#why = {
      open: `more than ${openCalls} calls are open, and this connection has most of them`,
      heads: `the metadata of all calls have more than ${heads} bytes, and this connection has most of them`,
      received: `the messages of all calls have more than ${received} bytes, and this connection has most of them`,
      unparsed: "all connections have received more than is held, and this one has most of it",
      unread: `all clients leave more than ${unread} bytes unread, and this connection has most of them`,
    };
  }

  /** `breakOff` ends the connection. */
  open(address: string, calls: CallList<BudgetedCall>, breakOff: (why: string) => void = () => {}): CallShares {
    const exhausted = (what: keyof CallShares) => new StatusError("RESOURCE_EXHAUSTED", this.#why[what]);
    return {
      open: this.#open.open(address, (excess) => {
        const why = exhausted("open");
        for (const call of largestOf(calls, excess, ({ isCounted }) => Number(isCounted))) call.breakOff(why);
      }),
      heads: this.#heads.open(address, (excess) => {
        const why = exhausted("heads");
        for (const call of largestOf(calls, excess, ({ isCounted, headBytes }) => (isCounted ? headBytes : 0))) call.breakOff(why);
      }),
      received: this.#received.open(address, (excess) => {
        const why = exhausted("received");
        for (const call of largestOf(calls, excess, ({ receivedBytes }) => receivedBytes)) call.fail(why);
      }),
      unparsed: this.#unparsed.open(address, () => breakOff(this.#why.unparsed)),
      unread: this.#unread.open(address, (excess) => {
        const why = exhausted("unread");
        for (const call of largestOf(calls, excess, ({ unreadBytes }) => unreadBytes)) call.breakOff(why);
      }),
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
