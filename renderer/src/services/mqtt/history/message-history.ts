import type { MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";
import { createRefresher } from "../../../control/refresher.ts";

/** Following shows each message as it comes; the other two hold what is on screen. */
export type HistoryMode = "following" | "scrolled" | "paused";

export interface HistoryQuery {
  /** A topic, or a filter with wildcards. */
  readonly filter: string;
  /** Only with this text in the payload. */
  readonly text: string;
}

export interface MessageHistoryView extends HistoryQuery {
  /** Newest first. */
  readonly messages: readonly MqttMessageSummary[];
  readonly mode: HistoryMode;
  /** Newer than those shown, as far as one page shows. */
  readonly arrived: number;
  readonly hasOlder: boolean;
  /** There are older ones, and no room for them here. */
  readonly isFull: boolean;
  /** False until the first answer. */
  readonly loaded: boolean;
}

export interface MessageHistory {
  subscribe(listener: () => void): () => void;
  view(): MessageHistoryView;
  setQuery(query: HistoryQuery): Promise<void>;
  /** Reads what is new, and what became of the newest ones. */
  refresh(): Promise<void>;
  loadOlder(): Promise<void>;
  scrolled(away: boolean): void;
  pause(): void;
  resume(): void;
  reset(): void;
}

interface HistoryPage {
  readonly messages: readonly MqttMessageSummary[];
}

interface MessageHistoryOptions {
  readonly read: (query: HistoryQuery & { readonly before?: number; readonly limit: number }) => Promise<HistoryPage>;
  readonly onFailure: (error: unknown) => void;
  readonly pageRows?: number;
  readonly followRows?: number;
  /** The most messages that are held, however far the list is scrolled. */
  readonly heldRows?: number;
}

const empty = { messages: [], arrived: 0, hasOlder: false, isFull: false, loaded: false } as const;

/** The recorded messages of a topic or filter, outside React: bounded, read by pages, newest first. */
export function createMessageHistory({
  read,
  onFailure,
  pageRows = 200,
  followRows = 2_000,
  heldRows = 20_000,
}: MessageHistoryOptions): MessageHistory {
  const listeners = new Set<() => void>();
  /** Answers to older questions than this are stale. */
  let question = 0;
  let readingOlder = false;
  let view: MessageHistoryView = { ...empty, filter: "", text: "", mode: "following" };

  function change(next: Partial<MessageHistoryView>) {
    view = { ...view, ...next };
    for (const listener of listeners) listener();
  }

  const refresh = createRefresher({
    read: async () => {
      if (view.filter === "") return;
      const mine = question;
      try {
        const page = await read({ filter: view.filter, text: view.text, limit: pageRows });
        if (mine === question) take(page);
      } catch (error) {
        if (mine === question) onFailure(error);
      }
    },
  });

  function take({ messages: page }: HistoryPage) {
    const known = view.messages;
    const byId = new Map(known.slice(0, page.length + pageRows).map((message) => [message.id, message]));
    const renewed = page.map((message) => {
      const before = byId.get(message.id);
      // The same object again where nothing changed: its row is not drawn again.
      return before && isSameMessage(before, message) ? before : message;
    });
    const newest = known[0]?.id ?? 0;
    // Numbers only grow while the service runs: a smaller one is of another run.
    const beganAnew = page[0] !== undefined && page[0].id < newest;
    const isHeld = view.loaded && view.mode !== "following" && !beganAnew;
    const oldestOfPage = page.at(-1)?.id ?? 0;
    if (isHeld) {
      const fresh = new Map(renewed.map((message) => [message.id, message]));
      change({
        messages: known.some(({ id }) => fresh.has(id)) ? known.map((message) => fresh.get(message.id) ?? message) : known,
        arrived: page.filter(({ id }) => id > newest).length,
      });
      return;
    }
    // Older ones stay as long as nothing is missing between them and the page.
    const joins = known.length > 0 && oldestOfPage <= newest && !beganAnew;
    const older = joins ? known.filter(({ id }) => id < oldestOfPage) : [];
    const all = [...renewed, ...older];
    change({
      messages: all.slice(0, followRows),
      isFull: false,
      hasOlder: all.length > followRows || (joins && view.hasOlder) || (older.length === 0 && page.length === pageRows),
      arrived: 0,
      loaded: true,
    });
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    view: () => view,
    async setQuery({ filter, text }) {
      if (filter === view.filter && text === view.text) return;
      question++;
      // A paused page shows another topic in its present state.
      change({ ...empty, filter, text, mode: view.mode === "paused" ? "paused" : "following" });
      await refresh();
    },
    refresh,
    async loadOlder() {
      const before = view.messages.at(-1)?.id;
      if (readingOlder || !view.hasOlder || view.isFull || before === undefined) return;
      readingOlder = true;
      const mine = question;
      try {
        const { filter, text } = view;
        const page = await read({ filter, text, before, limit: pageRows });
        if (mine !== question) return;
        const last = view.messages.at(-1)?.id ?? 0;
        const messages = [...view.messages, ...page.messages.filter(({ id }) => id < last)].slice(0, heldRows);
        const hasOlder = page.messages.length === pageRows;
        change({ messages, hasOlder, isFull: hasOlder && messages.length === heldRows });
      } catch (error) {
        onFailure(error);
      } finally {
        readingOlder = false;
      }
    },
    scrolled(away) {
      if (away && view.mode === "following") change({ mode: "scrolled", arrived: 0 });
      else if (!away && view.mode === "scrolled") {
        change({ mode: "following" });
        void refresh();
      }
    },
    pause: () => change({ mode: "paused" }),
    resume() {
      change({ mode: "following" });
      void refresh();
    },
    reset() {
      question++;
      change(empty);
      void refresh();
    },
  };
}

/** A recorded message changes in what became of it only. */
const isSameMessage = (one: MqttMessageSummary, other: MqttMessageSummary): boolean =>
  one.at === other.at &&
  one.matched === other.matched &&
  one.delivered === other.delivered &&
  one.acknowledged === other.acknowledged &&
  one.acknowledgeable === other.acknowledgeable &&
  one.dropped === other.dropped;

/** The message that another is compared with: the one that was picked where it is an older one of its topic, otherwise the one before. */
export function comparedWith<Message extends Pick<MqttMessageSummary, "id" | "topic">>(
  chosen: Message,
  picked: Message | undefined,
  newestFirst: readonly Message[],
): Message | undefined {
  const isOlder = ({ id, topic }: Message) => id < chosen.id && topic === chosen.topic;
  return picked && isOlder(picked) ? picked : newestFirst.find(isOlder);
}
