import type Database from "better-sqlite3";
import { openSqliteFile, sqliteFileError } from "../../core/files/sqlite-file.ts";
import type { Qos } from "../codec/packet.ts";
import { isSystemTopic } from "../codec/topic.ts";
import type { Delivery } from "../engine/delivery/delivery.ts";
import { Message } from "../engine/routing/message.ts";
import type { LocalSessionStore, StoredDelivery, StoredSession } from "../engine/session/session-store.ts";
import { parseWill, willText } from "./will-text.ts";

const schema = `
CREATE TABLE IF NOT EXISTS session (client_id TEXT PRIMARY KEY, v5 INTEGER, expiry INTEGER, disconnected_at INTEGER, will TEXT,
  address TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS subscription (client_id TEXT, filter TEXT, qos INTEGER, no_local INTEGER, retain_as_published INTEGER,
  retain_handling INTEGER, identifier INTEGER, PRIMARY KEY (client_id, filter)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS message (id INTEGER PRIMARY KEY, topic TEXT, payload BLOB, qos INTEGER, retain INTEGER, forwarded BLOB,
  expires_at INTEGER, publisher TEXT);
CREATE TABLE IF NOT EXISTS delivery (id INTEGER PRIMARY KEY, client_id TEXT, message_id INTEGER, qos INTEGER, retain INTEGER,
  identifiers TEXT, packet_id INTEGER, released INTEGER, shared_filter TEXT);
CREATE INDEX IF NOT EXISTS delivery_of_client ON delivery (client_id);
CREATE TABLE IF NOT EXISTS received (client_id TEXT, packet_id INTEGER, PRIMARY KEY (client_id, packet_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS retained (topic TEXT PRIMARY KEY, payload BLOB, qos INTEGER, forwarded BLOB, expires_at INTEGER, publisher TEXT,
  address TEXT) WITHOUT ROWID;
`;

interface MessageRow {
  readonly id: number;
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: Qos;
  readonly retain: number;
  readonly forwarded: Buffer;
  readonly expires_at: number;
  readonly publisher: string;
}
interface RetainedRow extends MessageRow {
  readonly address: string | null;
}
interface SessionRow {
  readonly client_id: string;
  readonly v5: number;
  readonly expiry: number;
  readonly disconnected_at: number;
  readonly will: string | null;
  readonly address: string | null;
}
interface SubscriptionRow {
  readonly client_id: string;
  readonly filter: string;
  readonly qos: Qos;
  readonly no_local: number;
  readonly retain_as_published: number;
  readonly retain_handling: 0 | 1 | 2;
  readonly identifier: number;
}
interface DeliveryRow {
  readonly id: number;
  readonly client_id: string;
  readonly message_id: number;
  readonly qos: Qos;
  readonly retain: number;
  readonly identifiers: string;
  readonly packet_id: number;
  readonly released: number;
  readonly shared_filter: string;
}

export interface SessionStoreOptions {
  readonly file: string;
  /** FULL: acknowledgements wait until the data is on the disk, not only in the operating system's cache. */
  readonly synchronous: "FULL" | "NORMAL";
}

/** Rows that a commit writes in about as long as clients have in a turn of the event loop. */
const rowsOfTurn = 2_000;
/** In one commit, of messages that no session holds any more: they may be removed later, as after a crash. */
const unusedAtOnce = 500;

/** Sessions in one SQLite file, with one transaction per tick. Throws a STORE_… error. */
export async function openSqliteSessionStore({ file, synchronous }: SessionStoreOptions): Promise<LocalSessionStore> {
  const database = await openSqliteFile(file, {
    synchronous,
    prepare(opened) {
      opened.exec(schema);
      for (const table of ["session", "retained"]) {
        const columns = opened.pragma(`table_info(${table})`) as { name: string }[];
        if (!columns.some(({ name }) => name === "address")) opened.exec(`ALTER TABLE ${table} ADD COLUMN address TEXT`);
      }
      opened.exec("DELETE FROM message WHERE id NOT IN (SELECT message_id FROM delivery)");
    },
  });

  const prepare = (sql: string) => database.prepare(sql);
  const begin = prepare("BEGIN");
  const commit = prepare("COMMIT");
  const putSession = prepare("INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?)");
  const deleteSession = ["session", "subscription", "delivery", "received"].map((table) =>
    prepare(`DELETE FROM ${table} WHERE client_id = ?`),
  );
  const putSubscription = prepare("INSERT OR REPLACE INTO subscription VALUES (?, ?, ?, ?, ?, ?, ?)");
  const deleteSubscription = prepare("DELETE FROM subscription WHERE client_id = ? AND filter = ?");
  const putMessage = prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  const deleteMessage = prepare("DELETE FROM message WHERE id = ?");
  const putDelivery = prepare("INSERT INTO delivery VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const updateDelivery = prepare("UPDATE delivery SET packet_id = ?, released = ? WHERE id = ?");
  const deleteDelivery = prepare("DELETE FROM delivery WHERE id = ?");
  const putReceived = prepare("INSERT OR IGNORE INTO received VALUES (?, ?)");
  const deleteReceived = prepare("DELETE FROM received WHERE client_id = ? AND packet_id = ?");
  const putRetained = prepare("INSERT OR REPLACE INTO retained VALUES (?, ?, ?, ?, ?, ?, ?)");
  const deleteRetained = prepare("DELETE FROM retained WHERE topic = ?");

  const highest = (table: string) => (prepare(`SELECT coalesce(max(id), 0) AS id FROM ${table}`).get() as { id: number }).id;
  let messageId = highest("message");
  let deliveryId = highest("delivery");
  let notes: { readonly statement: Database.Statement; readonly values: readonly unknown[] }[] = [];

  /** Rows that statements for whole sessions remove. */
  let rows = 0;
  /** Identifiers of messages. */
  const unused: number[] = [];

  function write(statement: Database.Statement, ...values: unknown[]): void {
    notes.push({ statement, values });
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
    load() {
      const messages = new Map<number, Message>();
      for (const row of prepare("SELECT * FROM message").all() as MessageRow[]) {
        const message = toMessage(row, row.retain === 1);
        message.storedId = row.id;
        messages.set(row.id, message);
      }
      const deliveries = group(prepare("SELECT * FROM delivery ORDER BY id").all() as DeliveryRow[], (row) => row.client_id);
      const subscriptions = group(prepare("SELECT * FROM subscription").all() as SubscriptionRow[], (row) => row.client_id);
      const received = group(prepare("SELECT * FROM received").all() as { client_id: string; packet_id: number }[], (row) => row.client_id);
      return {
        retained: (prepare("SELECT * FROM retained").all() as RetainedRow[]).map(toRetained),
        sessions: (prepare("SELECT * FROM session").all() as SessionRow[]).map(
          (row): StoredSession => ({
            clientId: row.client_id,
            v5: row.v5 === 1,
            expirySeconds: row.expiry,
            disconnectedAt: row.disconnected_at,
            will: row.will === null ? undefined : parseWill(row.will),
            address: row.address ?? "",
            subscriptions: (subscriptions.get(row.client_id) ?? []).map((subscription) => ({
              filter: subscription.filter,
              options: {
                qos: subscription.qos,
                noLocal: subscription.no_local === 1,
                retainAsPublished: subscription.retain_as_published === 1,
                retainHandling: subscription.retain_handling,
                identifier: subscription.identifier,
              },
            })),
            deliveries: (deliveries.get(row.client_id) ?? []).flatMap((delivery) => toDelivery(delivery, messages) ?? []),
            received: (received.get(row.client_id) ?? []).map(({ packet_id }) => packet_id),
          }),
        ),
      };
    },
    saveSession({ clientId, v5, expirySeconds, disconnectedAt, recipient, will, address }) {
      write(putSession, clientId, v5 ? 1 : 0, expirySeconds, recipient ? 0 : disconnectedAt, will ? willText(will) : null, address);
    },
    removeSession(clientId, held) {
      for (const statement of deleteSession) write(statement, clientId);
      if (!held) return;
      for (const delivery of held.deliveries) {
        const messageId = delivery.storedId > 0 ? forget(delivery) : undefined;
        if (messageId !== undefined) unused.push(messageId);
      }
      rows += held.rows;
    },
    subscribed(clientId, filter, { qos, noLocal, retainAsPublished, retainHandling, identifier }) {
      write(putSubscription, clientId, filter, qos, noLocal ? 1 : 0, retainAsPublished ? 1 : 0, retainHandling, identifier);
    },
    unsubscribed: (clientId, filter) => write(deleteSubscription, clientId, filter),
    queued(clientId, delivery) {
      const { message, qos, retain, identifiers, packetId, shared } = delivery;
      if (message.storedId === 0) {
        message.storedId = ++messageId;
        const { topic, payload, forwarded, expiresAt, publisherId } = message;
        write(putMessage, messageId, topic, payload, message.qos, message.retain ? 1 : 0, forwarded, expiresAt, publisherId);
      }
      message.storedUses++;
      delivery.storedId = ++deliveryId;
      const list = identifiers?.join(",") ?? "";
      const released = isReleased(delivery);
      write(putDelivery, deliveryId, clientId, message.storedId, qos, retain ? 1 : 0, list, packetId, released, shared?.filter ?? "");
    },
    updated: (_clientId, delivery) => write(updateDelivery, delivery.packetId, isReleased(delivery), delivery.storedId),
    removed(_clientId, delivery) {
      if (delivery.storedId === 0) return;
      write(deleteDelivery, delivery.storedId);
      const messageId = forget(delivery);
      if (messageId !== undefined) write(deleteMessage, messageId);
    },
    received: (clientId, packetId) => write(putReceived, clientId, packetId),
    released: (clientId, packetId) => write(deleteReceived, clientId, packetId),
    retained({ topic, payload, qos, forwarded, expiresAt, publisherId, publisherAddress }) {
      // $SYS topics are published again at each start.
      if (!isSystemTopic(topic)) write(putRetained, topic, payload, qos, forwarded, expiresAt, publisherId, publisherAddress);
    },
    retainedRemoved: (topic) => write(deleteRetained, topic),
    retainedExpired: ({ topic }) => write(deleteRetained, topic),
    commit: commitNotes,
    get hasMuchToCommit() {
      return notes.length + rows > rowsOfTurn;
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

const toMessage = (row: MessageRow, retain: boolean): Message =>
  new Message({
    topic: row.topic,
    payload: row.payload,
    qos: row.qos,
    retain,
    forwarded: row.forwarded,
    expiresAt: row.expires_at,
    publisherId: row.publisher,
  });

function toRetained(row: RetainedRow): Message {
  const message = toMessage(row, true);
  message.publisherAddress = row.address ?? "";
  return message;
}

function toDelivery(row: DeliveryRow, messages: ReadonlyMap<number, Message>): StoredDelivery | undefined {
  const message = messages.get(row.message_id);
  if (!message) return undefined;
  message.storedUses++;
  return {
    id: row.id,
    message,
    qos: row.qos,
    retain: row.retain === 1,
    identifiers: row.identifiers === "" ? [] : row.identifiers.split(",").map(Number),
    packetId: row.packet_id,
    released: row.released === 1,
    sharedFilter: row.shared_filter,
  };
}

function group<Row>(rows: readonly Row[], key: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const rowsOfKey = groups.get(key(row));
    if (rowsOfKey) rowsOfKey.push(row);
    else groups.set(key(row), [row]);
  }
  return groups;
}
