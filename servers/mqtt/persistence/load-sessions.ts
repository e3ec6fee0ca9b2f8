import type Database from "better-sqlite3";
import type { Qos } from "../codec/packet.ts";
import { type DeliveryTrace, Message } from "../engine/routing/message.ts";
import type { StoredDelivery, StoredSession, StoredState, StoredSubscription } from "../engine/session/session-store.ts";
import { fromComputerTime } from "../engine/steady-clock.ts";
import { parseWill } from "./will-text.ts";

interface MessageRow {
  readonly id: number;
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: Qos;
  readonly retain: number;
  readonly forwarded: Buffer;
  readonly expires_at: number;
  readonly publisher: string;
  readonly record: number | null;
  readonly recorded_at: number | null;
}
interface RetainedRow extends Omit<MessageRow, "record" | "recorded_at"> {
  readonly address: string | null;
}
interface SessionRow {
  readonly id: number;
  readonly client_id: string;
  readonly v5: number;
  readonly expiry: number;
  readonly disconnected_at: number;
  readonly will: string | null;
  readonly address: string | null;
}
interface SubscriptionRow {
  readonly filter: string;
  readonly qos: Qos;
  readonly no_local: number;
  readonly retain_as_published: number;
  readonly retain_handling: 0 | 1 | 2;
  readonly identifier: number;
  readonly shared_id: number;
}
interface DeliveryRow {
  readonly id: number;
  readonly message_id: number;
  readonly qos: Qos;
  readonly retain: number;
  readonly identifiers: string;
  readonly packet_id: number;
  readonly released: number;
  readonly shared_id: number;
  readonly as_retained: number | null;
}

/** For a message that an earlier process recorded. */
export type TraceOf = (id: number, at: number) => DeliveryTrace;

export interface SessionLoader {
  readonly state: StoredState;
  /** The highest number of a shared subscription that was loaded. */
  lastShared: number;
}

export interface SessionLoaderOptions {
  /** The highest identifier of a message at the start. */
  readonly lastMessage: number;
  /** Gets the identifiers of messages that no delivery names. */
  readonly unused: number[];
  readonly traceOf?: TraceOf | undefined;
}

const rowsAtOnce = 100;

/**
 * Reads the stored state row by row, as it is iterated: between two steps the file may be written. The row of a message stays until all
 * sessions are loaded, also if those before leave it out.
 */
export function createSessionLoader(database: Database.Database, { lastMessage, unused, traceOf }: SessionLoaderOptions): SessionLoader {
  const prepare = (sql: string) => database.prepare(sql);
  const nextSession = prepare("SELECT * FROM session WHERE id > ? ORDER BY id LIMIT 1");
  const nextRetained = prepare("SELECT * FROM retained WHERE topic > ? ORDER BY topic LIMIT 1");
  const nextSubscription = prepare("SELECT * FROM subscription WHERE session_id = ? AND filter > ? ORDER BY filter LIMIT 1");
  const nextDeliveries = prepare(
    `SELECT * FROM delivery WHERE session_id = ? AND (packet_id = 0) = ? AND id > ? ORDER BY id LIMIT ${rowsAtOnce}`,
  );
  const receivedOf = prepare("SELECT packet_id FROM received WHERE session_id = ?").pluck();
  const nextMessages = prepare(`SELECT id FROM message WHERE id > ? AND id <= ? ORDER BY id LIMIT ${rowsAtOnce}`).pluck();
  const messageOf = prepare("SELECT * FROM message WHERE id = ?");
  const messages = new Map<number, Message>();

  function message(id: number): Message | undefined {
    const known = messages.get(id);
    if (known) return known;
    const row = messageOf.get(id) as MessageRow | undefined;
    if (!row) return undefined;
    const read = toMessage(row, row.retain === 1);
    read.storedId = id;
    if (traceOf && row.record !== null && row.recorded_at !== null) read.trace = traceOf(row.record, row.recorded_at);
    // For the loader.
    read.storedUses = 1;
    messages.set(id, read);
    return read;
  }

  function* retained(): Generator<Message> {
    for (let topic = ""; ; ) {
      const row = nextRetained.get(topic) as RetainedRow | undefined;
      if (!row) return;
      topic = row.topic;
      yield toRetained(row);
    }
  }

  function* subscriptions(session: number, filters: Map<number, string>): Generator<StoredSubscription> {
    for (let filter = ""; ; ) {
      const row = nextSubscription.get(session, filter) as SubscriptionRow | undefined;
      if (!row) return;
      filter = row.filter;
      if (row.shared_id > 0) filters.set(row.shared_id, filter);
      loader.lastShared = Math.max(loader.lastShared, row.shared_id);
      const [noLocal, retainAsPublished] = [row.no_local === 1, row.retain_as_published === 1];
      const options = { qos: row.qos, noLocal, retainAsPublished, retainHandling: row.retain_handling, identifier: row.identifier };
      yield { filter, options, storedId: row.shared_id };
    }
  }

  /** Those that were sent in the order of sending, then those that wait. */
  function* deliveries(session: number, filters: ReadonlyMap<number, string>): Generator<StoredDelivery> {
    for (const waits of [0, 1]) yield* deliveriesThat(waits, session, filters);
  }

  function* deliveriesThat(waits: number, session: number, filters: ReadonlyMap<number, string>): Generator<StoredDelivery> {
    for (let last = 0; ; ) {
      const rows = nextDeliveries.all(session, waits, last) as DeliveryRow[];
      for (const row of rows) {
        const read = message(row.message_id);
        last = row.id;
        if (!read) continue;
        read.storedUses++;
        yield toDelivery(row, read, filters.get(row.shared_id) ?? "");
        // It was left out.
        if (read.storedUses === 1) messages.delete(row.message_id);
      }
      if (rows.length < rowsAtOnce) return;
    }
  }

  function* sessions(): Generator<StoredSession | undefined> {
    for (let last = 0; ; ) {
      const row = nextSession.get(last) as SessionRow | undefined;
      if (!row) break;
      last = row.id;
      const filters = new Map<number, string>();
      yield {
        clientId: row.client_id,
        storedId: row.id,
        v5: row.v5 === 1,
        expirySeconds: row.expiry,
        disconnectedAt: row.disconnected_at,
        will: row.will === null ? undefined : parseWill(row.will),
        address: row.address ?? "",
        subscriptions: subscriptions(row.id, filters),
        deliveries: deliveries(row.id, filters),
        received: receivedOf.all(row.id) as number[],
      };
    }
    for (let last = 0; ; ) {
      const ids = nextMessages.all(last, lastMessage) as number[];
      for (const id of ids) release(id);
      if (ids.length < rowsAtOnce) break;
      last = ids.at(-1) as number;
      yield undefined;
    }
    messages.clear();
  }

  function release(id: number): void {
    const read = messages.get(id);
    if (read && --read.storedUses > 0) return;
    if (read) read.storedId = 0;
    unused.push(id);
  }

  const loader: SessionLoader = { state: { retained: retained(), sessions: sessions() }, lastShared: 0 };
  return loader;
}

const toMessage = (row: Omit<MessageRow, "record" | "recorded_at">, retain: boolean): Message =>
  new Message({
    topic: row.topic,
    payload: row.payload,
    qos: row.qos,
    retain,
    forwarded: row.forwarded,
    expiresAt: fromComputerTime(row.expires_at),
    publisherId: row.publisher,
  });

function toRetained(row: RetainedRow): Message {
  const message = toMessage(row, true);
  message.publisherAddress = row.address ?? "";
  return message;
}

const toDelivery = (row: DeliveryRow, message: Message, sharedFilter: string): StoredDelivery => ({
  id: row.id,
  message,
  qos: row.qos,
  retain: row.retain === 1,
  identifiers: row.identifiers === "" ? [] : row.identifiers.split(",").map(Number),
  packetId: row.packet_id,
  released: row.released === 1,
  asRetained: row.as_retained === 1,
  sharedFilter,
});
