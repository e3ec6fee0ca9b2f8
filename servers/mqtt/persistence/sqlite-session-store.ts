import type Database from "better-sqlite3";
import { openSqliteFile, sqliteFileError } from "../../core/files/sqlite-file.ts";
import { isSystemTopic } from "../codec/topic.ts";
import type { Delivery } from "../engine/delivery/delivery.ts";
import type { Subscription } from "../engine/routing/subscription.ts";
import type { LocalSessionStore, SessionKey } from "../engine/session/session-store.ts";
import { toComputerTime } from "../engine/steady-clock.ts";
import { createSessionLoader, type TraceOf } from "./load-sessions.ts";
import { prepareSessionSchema } from "./session-schema.ts";
import { willText } from "./will-text.ts";

export interface SessionStoreOptions {
  readonly file: string;
  /** FULL: acknowledgements wait until the data is on the disk, not only in the operating system's cache. */
  readonly synchronous: "FULL" | "NORMAL";
  readonly traceOf?: TraceOf | undefined;
}

/** Rows that a commit writes in about as long as clients have in a turn of the event loop. */
const rowsOfTurn = 2_000;
/** The same in texts and buffers. */
const bytesOfTurn = 1 << 20;
/** In one commit, of messages that no session holds any more: they may be removed later, as after a crash. */
const unusedAtOnce = 500;

/** Sessions in one SQLite file, with one transaction per tick. Throws a STORE_… error. */
export async function openSqliteSessionStore({ file, synchronous, traceOf }: SessionStoreOptions): Promise<LocalSessionStore> {
  const database = await openSqliteFile(file, {
    synchronous,
    prepare: prepareSessionSchema,
  });

  const prepare = (sql: string) => database.prepare(sql);
  const begin = prepare("BEGIN");
  const commit = prepare("COMMIT");
  const putSession = prepare("INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?)");
  const deleteSession = ["session WHERE id", "subscription WHERE session_id", "delivery WHERE session_id", "received WHERE session_id"].map(
    (rows) => prepare(`DELETE FROM ${rows} = ?`),
  );
  const putSubscription = prepare(`INSERT INTO subscription VALUES (?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO UPDATE SET qos = excluded.qos,
    no_local = excluded.no_local, retain_as_published = excluded.retain_as_published, retain_handling = excluded.retain_handling,
    identifier = excluded.identifier`);
  const nameShared = prepare("UPDATE subscription SET shared_id = ? WHERE session_id = ? AND filter = ?");
  const deleteSubscription = prepare("DELETE FROM subscription WHERE session_id = ? AND filter = ?");
  const putMessage = prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const deleteMessage = prepare("DELETE FROM message WHERE id = ?");
  const putDelivery = prepare("INSERT INTO delivery VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const updateDelivery = prepare("UPDATE delivery SET id = ?, packet_id = ?, released = ? WHERE id = ?");
  const deleteDelivery = prepare("DELETE FROM delivery WHERE id = ?");
  const putReceived = prepare("INSERT OR IGNORE INTO received VALUES (?, ?)");
  const deleteReceived = prepare("DELETE FROM received WHERE session_id = ? AND packet_id = ?");
  const putRetained = prepare("INSERT OR REPLACE INTO retained VALUES (?, ?, ?, ?, ?, ?, ?)");
  const deleteRetained = prepare("DELETE FROM retained WHERE topic = ?");

  const highest = (table: string) => (prepare(`SELECT coalesce(max(id), 0) AS id FROM ${table}`).get() as { id: number }).id;
  let sessionId = highest("session");
  let messageId = highest("message");
  let deliveryId = highest("delivery");
  /** Identifiers of messages. */
  const unused: number[] = [];
  const loader = createSessionLoader(database, { lastMessage: messageId, unused, traceOf });
  let notes: { readonly statement: Database.Statement; readonly values: readonly unknown[] }[] = [];

  /** Of the texts and buffers of the notes. */
  let bytes = 0;
  /** Rows that statements for whole sessions remove. */
  let rows = 0;

  function write(statement: Database.Statement, ...values: readonly (string | number | Buffer | null)[]): void {
    notes.push({ statement, values });
    for (const value of values) if (value !== null && typeof value !== "number") bytes += value.length;
  }

  function idOf(session: SessionKey): number {
    if (session.storedId === 0) session.storedId = ++sessionId;
    return session.storedId;
  }

  function idOfShared(session: SessionKey, shared: Subscription | undefined): number {
    if (!shared) return 0;
    if (shared.storedId === 0) {
      shared.storedId = ++loader.lastShared;
      write(nameShared, shared.storedId, idOf(session), shared.filter);
    }
    return shared.storedId;
  }

  /** Throws a STORE_… error; the changes are then kept for the next commit. */
  function commitNotes(): void {
    if (notes.length + unused.length === 0) return;
    try {
      const removed = unused.slice(-unusedAtOnce);
      begin.run();
      for (const { statement, values } of notes) statement.run(...values);
      for (const id of removed) deleteMessage.run(id);
      commit.run();
      unused.length -= removed.length;
    } catch (error) {
      // After some errors SQLite has already rolled back.
      if (database.inTransaction) database.exec("ROLLBACK");
      throw sqliteFileError(error, file);
    }
    notes = [];
    bytes = 0;
    rows = 0;
  }

  /** Returns the identifier of its message, if no other delivery has it. */
  function forget(delivery: Delivery): number | undefined {
    const { message } = delivery;
    delivery.storedId = 0;
    if (--message.storedUses > 0) return undefined;
    const { storedId } = message;
    message.storedId = 0;
    return storedId;
  }

  return {
    load: () => loader.state,
    saveSession(session) {
      const { clientId, v5, expirySeconds, disconnectedAt, recipient, will, address } = session;
      const leftAt = recipient ? 0 : toComputerTime(disconnectedAt);
      write(putSession, idOf(session), clientId, v5 ? 1 : 0, expirySeconds, leftAt, will ? willText(will) : null, address);
    },
    removeSession(session, held) {
      if (session.storedId > 0) for (const statement of deleteSession) write(statement, session.storedId);
      session.storedId = 0;
      if (!held) return;
      for (const delivery of held.deliveries) {
        const messageId = delivery.storedId > 0 ? forget(delivery) : undefined;
        if (messageId !== undefined) unused.push(messageId);
      }
      rows += held.rows;
    },
    subscribed(session, { filter, options }) {
      const { qos, noLocal, retainAsPublished, retainHandling, identifier } = options;
      write(putSubscription, idOf(session), filter, qos, noLocal ? 1 : 0, retainAsPublished ? 1 : 0, retainHandling, identifier);
    },
    unsubscribed: (session, filter) => write(deleteSubscription, idOf(session), filter),
    queued(session, delivery) {
      const { message, qos, retain, identifiers, packetId, shared, asRetained } = delivery;
      if (message.storedId === 0) {
        message.storedId = ++messageId;
        const { topic, payload, forwarded, expiresAt, publisherId, trace } = message;
        write(
          putMessage,
          messageId,
          topic,
          payload,
          message.qos,
          message.retain ? 1 : 0,
          forwarded,
          toComputerTime(expiresAt),
          publisherId,
          trace?.id ?? null,
          trace?.at ?? null,
        );
      }
      message.storedUses++;
      const owner = idOf(session);
      const sharedAs = idOfShared(session, shared);
      delivery.storedId = ++deliveryId;
      const list = identifiers?.join(",") ?? "";
      const flags = [isReleased(delivery), sharedAs, asRetained ? 1 : 0];
      write(putDelivery, deliveryId, owner, message.storedId, qos, retain ? 1 : 0, list, packetId, ...flags);
    },
    updated(_session, delivery) {
      // [MQTT-4.6.0-1], [MQTT-4.6.0-4]: it is the last one that was sent, or whose PUBREC has come.
      write(updateDelivery, ++deliveryId, delivery.packetId, isReleased(delivery), delivery.storedId);
      delivery.storedId = deliveryId;
    },
    removed(_session, delivery) {
      if (delivery.storedId === 0) return;
      write(deleteDelivery, delivery.storedId);
      const messageId = forget(delivery);
      if (messageId !== undefined) write(deleteMessage, messageId);
    },
    received: (session, packetId) => write(putReceived, idOf(session), packetId),
    released: (session, packetId) => write(deleteReceived, idOf(session), packetId),
    retained({ topic, payload, qos, forwarded, expiresAt, publisherId, publisherAddress }) {
      // $SYS topics are published again at each start.
      if (!isSystemTopic(topic))
        write(putRetained, topic, payload, qos, forwarded, toComputerTime(expiresAt), publisherId, publisherAddress);
    },
    retainedRemoved: (topic) => write(deleteRetained, topic),
    retainedExpired: ({ topic }) => write(deleteRetained, topic),
    commit: commitNotes,
    get hasMuchToCommit() {
      return notes.length + rows > rowsOfTurn || bytes > bytesOfTurn;
    },
    close() {
      try {
        commitNotes();
      } finally {
        database.close();
      }
    },
  };
}

const isReleased = ({ state }: Delivery): number => (state === "awaiting pubcomp" ? 1 : 0);
