import { createTopicMatcher, hasWildcard } from "../codec/topic.ts";
import type { MessageRecord } from "./message-record.ts";
import { TopicHistory } from "./topic-history.ts";
import type { TopicNode } from "./topic-node.ts";
import { TopicTree, type TopicTreeLimits } from "./topic-tree.ts";

export interface KeptMessagesLimits extends TopicTreeLimits {
  readonly recordedMessages: number;
  readonly recordedBytes: number;
  /** Of one topic, so that a busy one does not push out all others. */
  readonly recordedTopicMessages: number;
  readonly recordedTopicBytes: number;
}

export interface HistoryOptions {
  /** Only with this text in the payload. */
  readonly text: string;
  /** Only with a smaller id. */
  readonly before: number | undefined;
  readonly limit: number;
}

/** The topic tree and the recorded messages, within their bounds. */
export class KeptMessages {
  readonly tree: TopicTree;
  /** Messages that were only counted. */
  unrecorded = 0;
  newestId = 0;
  private bytes = 0;
  /** The oldest first. */
  private readonly byId = new Map<number, MessageRecord>();
  private byAge: Iterator<MessageRecord> = this.byId.values();
  private readonly limits: KeptMessagesLimits;

  constructor(limits: KeptMessagesLimits) {
    this.limits = limits;
    this.tree = new TopicTree(limits);
  }

  get size(): number {
    return this.byId.size;
  }

  /** `node` is that of its topic; undefined where the tree has no room for it. */
  keep(record: MessageRecord, node: TopicNode | undefined): void {
    this.byId.set(record.id, record);
    this.newestId = record.id;
    record.countedBytes = record.heldBytes;
    this.bytes += record.countedBytes;
    const { recordedMessages, recordedBytes, recordedTopicMessages, recordedTopicBytes } = this.limits;
    if (node) {
      node.history ??= new TopicHistory();
      const { history } = node;
      record.history = history;
      history.add(record);
      while (history.count > recordedTopicMessages || (history.bytes > recordedTopicBytes && history.count > 1)) {
        this.forget(history.oldest as MessageRecord);
      }
    }
    while (this.byId.size > recordedMessages || this.bytes > recordedBytes) {
      const oldest = this.oldest();
      if (!oldest) break;
      this.forget(oldest);
    }
  }

  private oldest(): MessageRecord | undefined {
    const next = this.byAge.next();
    if (!next.done) return next.value;
    this.byAge = this.byId.values();
    return this.byAge.next().value;
  }

  /** Always the oldest of its topic. */
  private forget(record: MessageRecord): void {
    this.byId.delete(record.id);
    record.history?.removeOldest();
    record.history = undefined;
    this.bytes -= record.countedBytes;
    record.countedBytes = 0;
  }

  /** Its deliveries take memory too. */
  countAgain(record: MessageRecord): void {
    // It has left already.
    if (record.countedBytes === 0) return;
    const more = record.heldBytes - record.countedBytes;
    record.countedBytes += more;
    this.bytes += more;
    if (record.history) record.history.bytes += more;
  }

  /** Between messages: an iterator that rests holds every earlier state of the map. */
  rest(): void {
    this.byAge = this.byId.values();
  }

  find(id: number): MessageRecord | undefined {
    return this.byId.get(id);
  }

  /** Newest first. */
  history(filter: string, options: { text: string; before: number | undefined; limit: number }): MessageRecord[] {
    const before = options.before ?? Number.POSITIVE_INFINITY;
    const text = Buffer.from(options.text, "utf8").toString("latin1");
    const found: MessageRecord[] = [];
    for (const record of this.newestFirst(filter)) {
      if (record.id >= before || (text !== "" && !record.payloadHas(text))) continue;
      found.push(record);
      if (found.length === options.limit) break;
    }
    return found;
  }

  private *newestFirst(filter: string): Generator<MessageRecord> {
    const node = hasWildcard(filter) ? undefined : this.tree.node(filter);
    if (node) {
      if (node.history) yield* node.history.newestFirst();
      return;
    }
    const matches = rememberedMatcher(filter);
    const records = [...this.byId.values()];
    for (let index = records.length - 1; index >= 0; index--) {
      const record = records[index] as MessageRecord;
      if (matches(record.topic)) yield record;
    }
  }

  /** Oldest first, with ids beyond `from` and up to `to`. */
  *between(filter: string, from: number, to: number): Iterable<MessageRecord> {
    const matches = rememberedMatcher(filter);
    for (const record of this.byId.values()) {
      if (record.id > to) return;
      if (record.id > from && matches(record.topic)) yield record;
    }
  }

  /** What came since these were cleared follows them; `newer` is of no further use. */
  absorb(newer: KeptMessages): void {
    this.rest();
    this.tree.absorb(newer.tree);
    this.unrecorded += newer.unrecorded;
    for (const record of newer.byId.values()) {
      record.older = undefined;
      record.newer = undefined;
      record.history = undefined;
      this.keep(record, this.tree.node(record.topic));
    }
  }
}

/** A topic has many messages: each is compared once. */
function rememberedMatcher(filter: string): (topic: string) => boolean {
  const matches = createTopicMatcher(filter);
  const known = new Map<string, boolean>();
  return (topic) => {
    let answer = known.get(topic);
    if (answer === undefined) {
      answer = matches(topic);
      known.set(topic, answer);
    }
    return answer;
  };
}
