import { createTopicMatcher, hasWildcard, isLongName } from "../codec/topic.ts";
import { AgedRecords } from "./aged-records.ts";
import { LookSteps } from "./look-steps.ts";
import type { MessageRecord } from "./message-record.ts";
import { TopicHistory } from "./topic-history.ts";
import type { TopicNode } from "./topic-node.ts";
import { TopicTree, type TopicTreeLimits } from "./topic-tree.ts";

export interface KeptMessagesLimits extends TopicTreeLimits {
  readonly recordedMessages: number;
  readonly recordedBytes: number;
  /** Most messages of one topic, so that a busy topic does not evict all others. */
  readonly recordedTopicMessages: number;
  readonly recordedTopicBytes: number;
}

export interface MessageQuery {
  /** A topic, or with wildcards. */
  readonly filter: string;
  /** Only with this text in the payload. */
  readonly text: string;
  readonly withoutSample?: boolean;
}

export interface HistoryOptions {
  /** Only with a smaller id. */
  readonly before: number | undefined;
  readonly limit: number;
  /** Of their topics and the identifiers of their publishers; one message is always found. */
  readonly length: number;
}

interface IdRange {
  readonly from: number;
  readonly to: number;
}

export interface FoundMessages {
  /** Newest first. */
  readonly records: MessageRecord[];
  /** The search ended at a limit. */
  readonly hasOlder: boolean;
  /** Those before the last one found that do not have the text in what is kept of their payloads. */
  readonly searchedInPart: number;
}

/** Divisor of the limits: at most this part is used for the last messages of quiet topics. */
const lastPart = 2;
/** Most of these messages for one topic, if there are few topics. */
const mostLast = 200;

/** The topic tree and the recorded messages, within the configured limits. */
export class KeptMessages {
  readonly tree: TopicTree;
  /** Messages that were only counted. */
  unrecorded = 0;
  newestId = 0;
  private readonly recent = new AgedRecords();
  /** The last messages of quiet topics, older than all of `recent`: busy topics do not evict them. */
  private readonly last = new AgedRecords();
  /** Topics that were evicted from the tree and still have recorded messages. */
  private readonly evicted = new Map<string, TopicHistory<MessageRecord>>();
  private readonly limits: KeptMessagesLimits;

  constructor(limits: KeptMessagesLimits, isRetained: (topic: string) => boolean = () => false) {
    this.limits = limits;
    this.tree = new TopicTree(limits, {
      isRetained,
      onEvicted: ({ topic, history }) => {
        if (history && history.count > 0) this.evicted.set(topic, history);
      },
    });
  }

  get size(): number {
    return this.recent.size + this.last.size;
  }

  /** `node` is the topic's node; undefined if the topic is not in the tree. */
  keep(record: MessageRecord, node: TopicNode | undefined): void {
    this.newestId = record.id;
    const { recordedTopicMessages, recordedTopicBytes } = this.limits;
    if (node) record.history = node.history ??= this.historyOf(record.topic);
    record.countedBytes = record.heldBytes;
    this.recent.add(record);
    if (node?.history) {
      const { history } = node;
      while (history.count >= this.lastOfTopic && history.oldest && this.last.find(history.oldest.id)) this.forget(history.oldest);
      history.add(record);
      while (history.count > recordedTopicMessages || (history.bytes > recordedTopicBytes && history.count > 1)) {
        this.forget(history.oldest as MessageRecord);
      }
    }
    this.makeRoom();
  }

  private historyOf(topic: string): TopicHistory<MessageRecord> {
    const known = this.evicted.get(topic);
    if (known) this.evicted.delete(topic);
    return known ?? new TopicHistory<MessageRecord>();
  }

  /** Number of last messages per topic, such that all topics fit. */
  private get lastOfTopic(): number {
    const share = Math.floor(this.limits.recordedMessages / lastPart / Math.max(1, this.tree.size));
    return Math.max(1, Math.min(mostLast, share));
  }

  private makeRoom(): void {
    const { recent, last, lastOfTopic } = this;
    const { recordedMessages, recordedBytes } = this.limits;
    while (recent.size + last.size > recordedMessages || recent.bytes + last.bytes > recordedBytes) {
      const oldest = recent.oldest();
      if (!oldest) break;
      const { history } = oldest;
      const tooMany = history === undefined || history.count > lastOfTopic;
      if (history === undefined || (tooMany && history.oldest === oldest)) {
        this.forget(oldest);
        continue;
      }
      recent.remove(oldest);
      last.add(oldest);
      if (tooMany) this.forget(history.oldest as MessageRecord);
      while (last.size > recordedMessages / lastPart || last.bytes > recordedBytes / lastPart) {
        const gone = last.oldest();
        if (!gone) break;
        this.forget(gone);
      }
    }
  }

  /** `record` is always the oldest of its topic. */
  private forget(record: MessageRecord): void {
    if (!this.recent.remove(record)) this.last.remove(record);
    record.history?.removeOldest();
    if (record.history?.count === 0) this.evicted.delete(record.topic);
    record.history = undefined;
    record.shrink();
  }

  /** Updates the counted bytes after deliveries were added. */
  countAgain(record: MessageRecord): void {
    if (record.isForgotten) return;
    const more = record.heldBytes - record.countedBytes;
    record.countedBytes += more;
    (this.last.find(record.id) ? this.last : this.recent).bytes += more;
    if (record.history) record.history.bytes += more;
  }

  rest(): void {
    this.recent.rest();
    this.last.rest();
  }

  find(id: number): MessageRecord | undefined {
    return this.recent.find(id) ?? this.last.find(id);
  }

  /** Oldest first. */
  inOrder(): MessageRecord[] {
    return [...this.last.values(), ...this.recent.values()];
  }

  /** Newest first. In steps. */
  *history(query: MessageQuery, { before = Number.POSITIVE_INFINITY, ...most }: HistoryOptions): Generator<undefined, FoundMessages> {
    const records: MessageRecord[] = [];
    let length = 0;
    let hasOlder = false;
    let searchedInPart = 0;
    const onCut = () => searchedInPart++;
    for (const record of matching(this.newestFirst(query.filter), query, { from: 0, to: before - 1 }, onCut)) {
      if (!record) {
        yield;
        continue;
      }
      records.push(record);
      length += record.topic.length + record.publisherId.length;
      hasOlder = records.length >= most.limit || length >= most.length;
      if (hasOlder) break;
    }
    return { records, hasOlder, searchedInPart };
  }

  /** All that may match. */
  private newestFirst(filter: string): Iterable<MessageRecord> {
    const node = hasWildcard(filter) ? undefined : this.tree.node(filter);
    if (node) return node.history?.newestFirst() ?? [];
    return this.evicted.get(filter)?.newestFirst() ?? this.inOrder().reverse();
  }

  /** Oldest first, with ids beyond `from` and up to `to`; undefined where a step ends. */
  between(query: MessageQuery, range: IdRange): Iterable<MessageRecord | undefined> {
    return matching(this.inOrder(), query, range);
  }

  /** Appends the messages that were recorded after the clear, in steps; meanwhile and afterwards `newer` must not be used but to find those that are not here yet. */
  *appendNewer(newer: KeptMessages): Generator<undefined, void> {
    this.rest();
    yield* this.tree.appendNewer(newer.tree);
    this.unrecorded += newer.unrecorded;
    const steps = new LookSteps();
    for (const record of newer.inOrder()) {
      record.older = undefined;
      record.newer = undefined;
      record.history = undefined;
      this.keep(record, this.tree.node(record.topic));
      if (!steps.isOver(record.topic.length)) continue;
      this.rest();
      yield;
    }
  }
}

/** Undefined where a step ends. What was forgotten between two steps is left out; `onCut` tells of those whose text is not known as a whole. */
function* matching(
  records: Iterable<MessageRecord>,
  { filter, text, withoutSample }: MessageQuery,
  { from, to }: IdRange,
  onCut?: () => void,
): Generator<MessageRecord | undefined> {
  const matches = rememberedMatcher(filter);
  const wanted = Buffer.from(text, "utf8").toString("latin1");
  const steps = new LookSteps();
  for (const record of records) {
    if (steps.isOver(wanted === "" ? 0 : record.heldBytes)) yield undefined;
    if (record.id <= from || record.id > to || record.isForgotten) continue;
    if ((withoutSample && record.isSample) || !matches(record.topic)) continue;
    if (wanted === "" || record.payloadHas(wanted)) yield record;
    else if (record.isCut) onCut?.();
  }
}

/** Caches the result per topic, since a topic has many messages. */
function rememberedMatcher(filter: string): (topic: string) => boolean {
  const matches = createTopicMatcher(filter);
  const known = new Map<string, boolean>();
  return (topic) => {
    if (isLongName(topic)) return matches(topic);
    let answer = known.get(topic);
    if (answer === undefined) {
      answer = matches(topic);
      known.set(topic, answer);
    }
    return answer;
  };
}
