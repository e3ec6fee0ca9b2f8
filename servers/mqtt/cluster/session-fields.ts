import { ByteReader } from "../codec/byte-reader.ts";
import type { Qos } from "../codec/packet.ts";
import type { Delivery } from "../engine/delivery/delivery.ts";
import type { SubscriptionOptions } from "../engine/routing/subscription.ts";
import type { SavedSession, StoredDelivery, StoredSession, StoredSubscription } from "../engine/session/session-store.ts";
import { parseWill, willText } from "../persistence/will-text.ts";
import { FrameWriter } from "./frame-writer.ts";
import { isJournalId } from "./journal.ts";
import { malformed, putMessage, readMessage } from "./message-fields.ts";

/**
 * A session is one hash in Redis, so that it is moved and removed atomically. Its fields: `session`; `f` + filter for a subscription;
 * `d` + number for the message of a delivery, `p` + number for its progress; `r` + identifier for a received QoS 2 message; and `at`.
 * Clients choose filters: no other field begins with `f`. The former `s` + filter is read, too.
 */
export const sessionField = "session";
export const subscriptionField = (filter: string): string => `f${filter}`;
export const messageField = (delivery: number): string => `d${delivery}`;
export const progressField = (delivery: number): string => `p${delivery}`;
export const receivedField = (packetId: number): string => `r${packetId}`;
const atField = "at";

/** The state as of this position in the journal, including all frames of `from` up to `seq`, wherever they are. */
export interface StateAt {
  readonly id: string;
  readonly seq: number;
  readonly from: string;
}

export const stateAtText = ({ id, seq, from }: StateAt): string => `${id} ${seq} ${from}`;

function parseStateAt(text: string): StateAt | undefined {
  const [id = "", seq = "", from = ""] = text.split(" ");
  return isJournalId(id) ? { id, seq: Number(seq) || 0, from } : undefined;
}

export function sessionText({ v5, expirySeconds, disconnectedAt, recipient, will, address }: SavedSession): string {
  return JSON.stringify({
    v5,
    expirySeconds,
    disconnectedAt: recipient ? 0 : disconnectedAt,
    address,
    ...(will && { will: willText(will) }),
  });
}

export const optionsText = ({ qos, noLocal, retainAsPublished, retainHandling, identifier }: SubscriptionOptions): string =>
  [qos, Number(noLocal), Number(retainAsPublished), retainHandling, identifier].join(" ");

export const progressText = ({ packetId, state, order }: Delivery): string =>
  [packetId, Number(state === "awaiting pubcomp"), order].join(" ");

export function deliveryBytes({ message, qos, retain, identifiers, shared }: Delivery): Buffer {
  const writer = new FrameWriter();
  writer
    .byte(qos)
    .byte(Number(retain))
    .string(shared?.filter ?? "")
    .fourBytes(identifiers?.length ?? 0);
  for (const identifier of identifiers ?? []) writer.fourBytes(identifier);
  putMessage(writer, message);
  return writer.take();
}

export interface ReadSession {
  readonly session: StoredSession;
  /** Absent if a living broker has it, or nothing was missed. */
  readonly at: StateAt | undefined;
  /** Fields that could not be read. */
  readonly broken: number;
}

/** Undefined if the hash contains no session. */
export function readSession(clientId: string, fields: ReadonlyMap<string, Buffer>): ReadSession | undefined {
  const head = parseHead(fields.get(sessionField));
  if (!head) return undefined;
  const subscriptions: StoredSubscription[] = [];
  const deliveries: (StoredDelivery & { readonly order: number })[] = [];
  const received: number[] = [];
  let broken = 0;
  for (const [name, value] of fields) {
    try {
      const rest = name.slice(1);
      if (name === sessionField || name === atField) continue;
      if (name.startsWith("f") || name.startsWith("s")) subscriptions.push({ filter: rest, options: parseOptions(value), storedId: 0 });
      else if (name.startsWith("r")) received.push(wholeNumber(rest, 0xffff));
      else if (name.startsWith("d")) deliveries.push(readDelivery(wholeNumber(rest), value, fields.get(progressField(Number(rest)))));
    } catch {
      broken++;
    }
  }
  // Sent messages first, in the order of sending, then the waiting ones.
  deliveries.sort((one, other) => (one.order || Number.MAX_SAFE_INTEGER) - (other.order || Number.MAX_SAFE_INTEGER) || one.id - other.id);
  const at = fields.get(atField);
  return {
    session: { clientId, storedId: 0, ...head, subscriptions, deliveries, received },
    at: at && parseStateAt(at.toString("utf8")),
    broken,
  };
}

type Head = Pick<StoredSession, "v5" | "expirySeconds" | "disconnectedAt" | "will" | "address">;

function parseHead(value: Buffer | undefined): Head | undefined {
  if (!value) return undefined;
  try {
    const { v5, expirySeconds, disconnectedAt, will, address } = JSON.parse(value.toString("utf8")) as Record<string, unknown>;
    return {
      v5: v5 === true,
      expirySeconds: wholeNumber(expirySeconds, 0xffff_ffff),
      disconnectedAt: wholeNumber(disconnectedAt),
      address: typeof address === "string" ? address : "",
      ...(typeof will === "string" && { will: parseWill(will) }),
    };
  } catch {
    return undefined;
  }
}

function parseOptions(value: Buffer): SubscriptionOptions {
  const [qos, noLocal, retainAsPublished, retainHandling, identifier] = numbers(value);
  return {
    qos: wholeNumber(qos, 2) as Qos,
    noLocal: noLocal === "1",
    retainAsPublished: retainAsPublished === "1",
    retainHandling: wholeNumber(retainHandling, 2) as 0 | 1 | 2,
    identifier: wholeNumber(identifier, 0x0fff_ffff),
  };
}

function readDelivery(id: number, value: Buffer, progress: Buffer | undefined): StoredDelivery & { readonly order: number } {
  const reader = new ByteReader();
  reader.open(value, 0, value.length);
  const qos = wholeNumber(reader.byte(), 2) as Qos;
  const retain = reader.byte() === 1;
  const sharedFilter = reader.string();
  const identifiers: number[] = [];
  for (let count = reader.fourBytes(); count > 0; count--) identifiers.push(reader.fourBytes());
  const message = readMessage(reader);
  const [packetId, released, order] = progress ? numbers(progress) : [];
  return {
    id,
    message,
    qos,
    retain,
    identifiers,
    packetId: wholeNumber(packetId ?? 0, 0xffff),
    released: released === "1",
    sharedFilter,
    order: wholeNumber(order ?? 0),
  };
}

const numbers = (value: Buffer): string[] => value.toString("latin1").split(" ");

function wholeNumber(value: unknown, maximum = Number.MAX_SAFE_INTEGER): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0 || number > maximum) throw malformed("A number is out of range.");
  return number;
}
