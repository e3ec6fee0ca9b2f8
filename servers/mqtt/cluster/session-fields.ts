import { ByteReader } from "../codec/byte-reader.ts";
import type { Qos } from "../codec/packet.ts";
import type { Delivery } from "../engine/delivery/delivery.ts";
import type { JournalPlace, Message } from "../engine/routing/message.ts";
import type { Subscription, SubscriptionOptions } from "../engine/routing/subscription.ts";
import type { SavedSession, StoredDelivery, StoredSession, StoredSubscription } from "../engine/session/session-store.ts";
import { toComputerTime } from "../engine/steady-clock.ts";
import { parseWill, willText } from "../persistence/will-text.ts";
import { type Reply, replyText } from "./cluster-scripts.ts";
import { isJournalId } from "./journal.ts";
import { malformed, readMessage } from "./message-fields.ts";
import type { StoredMessage } from "./stored-messages.ts";

/**
 * A session is one hash in Redis, so that it is moved and removed atomically. Its fields: `session`; `f` + filter for a subscription;
 * `d` + number for a delivery, `p` + number for its progress; `r` + identifier for a received QoS 2 message; `at` and `ahead`. Messages and
 * filters may be long: a delivery has the name of its message (`StoredMessages`), and of a shared subscription the number that is with
 * its filter. Clients choose filters: no other field begins with `f`. The former `s` + filter is read, too, and deliveries that contain
 * their message.
 */
export const sessionField = "session";
export const subscriptionField = (filter: string): string => `f${filter}`;
export const deliveryField = (delivery: number): string => `d${delivery}`;
export const progressField = (delivery: number): string => `p${delivery}`;
export const receivedField = (packetId: number): string => `r${packetId}`;
export const atField = "at";
/** The last message that it has of the journal, if its broker's position is before that: one for thousands is delivered in steps. */
export const aheadField = "ahead";

/** The state as of this position in the journal, including all frames of `from` up to `seq`, wherever they are. */
export interface StateAt {
  readonly id: string;
  readonly seq: number;
  readonly from: string;
}

export const placeText = ({ id, index }: JournalPlace): string => `${id} ${index}`;

function parsePlace(text: string): JournalPlace | undefined {
  const [id = "", index = ""] = text.split(" ");
  return isJournalId(id) ? { id, index: Number(index) || 0 } : undefined;
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
    disconnectedAt: recipient ? 0 : toComputerTime(disconnectedAt),
    address,
    ...(will && { will: willText(will) }),
  });
}

export function subscriptionText({ options, storedId }: Pick<Subscription, "options" | "storedId">): string {
  const { qos, noLocal, retainAsPublished, retainHandling, identifier } = options;
  return [qos, Number(noLocal), Number(retainAsPublished), retainHandling, identifier, storedId].join(" ");
}

export const progressText = ({ packetId, state, order }: Delivery): string =>
  [packetId, Number(state === "awaiting pubcomp"), order].join(" ");

/** `shared`: the number of its shared subscription, or 0. */
export const deliveryText = ({ qos, retain, identifiers }: Delivery, { name }: StoredMessage, shared: number): string =>
  [qos, Number(retain), name, shared, identifiers?.join(",") ?? ""].join(" ");

/** A delivery of which the message is still to be loaded, if it has a name. */
export interface ReadDelivery extends Omit<StoredDelivery, "message"> {
  readonly message: Message | undefined;
  readonly name: string;
}

export interface ReadSession {
  readonly session: Omit<StoredSession, "deliveries">;
  readonly deliveries: readonly ReadDelivery[];
  /** Absent if a living broker has it, or nothing was missed. */
  readonly at: StateAt | undefined;
  readonly ahead: JournalPlace | undefined;
  /** Fields that could not be read. */
  readonly broken: number;
  /** It has fields that are not written in this form any more. */
  readonly isFormer: boolean;
}

/** A step takes far less than a turn of the event loop. */
const fieldsOfStep = 256;

function* inSteps<Item>(items: Iterable<Item>, act: (item: Item) => void): Generator<undefined, void> {
  let count = 0;
  for (const item of items) {
    act(item);
    if (++count % fieldsOfStep === 0) yield;
  }
}

/** `values`: the names of all fields, each with its value. Undefined if the hash contains no session. */
export function* readSession(clientId: string, values: readonly Reply[]): Generator<undefined, ReadSession | undefined> {
  const fields = new Map<string, Buffer>();
  for (let at = 0; at + 1 < values.length; at += 2) {
    fields.set(replyText(values[at]), values[at + 1] as Buffer);
    if (fields.size % fieldsOfStep === 0) yield;
  }
  const head = parseHead(fields.get(sessionField));
  if (!head) return undefined;
  const subscriptions: StoredSubscription[] = [];
  const filters = new Map<number, string>();
  const deliveries: (ReadDelivery & { readonly order: number })[] = [];
  const received: number[] = [];
  let broken = 0;
  let isFormer = false;
  yield* inSteps(fields, ([name, value]) => {
    if (name === sessionField || name === atField || name === aheadField) return;
    try {
      const rest = name.slice(1);
      if (name.startsWith("f") || name.startsWith("s")) {
        const subscription = readSubscription(rest, value);
        subscriptions.push(subscription);
        if (subscription.storedId > 0) filters.set(subscription.storedId, rest);
        if (name.startsWith("s")) isFormer = true;
      } else if (name.startsWith("r")) received.push(wholeNumber(rest, 0xffff));
    } catch {
      broken++;
    }
  });
  yield* inSteps(fields, ([name, value]) => {
    if (!name.startsWith("d")) return;
    try {
      const id = wholeNumber(name.slice(1));
      const delivery = readDelivery(id, value, fields.get(progressField(id)), filters);
      deliveries.push(delivery);
      // One that waits has no place among those that were sent.
      if (delivery.message || (delivery.packetId === 0 && delivery.order > 0)) isFormer = true;
    } catch {
      broken++;
    }
  });
  // Sent messages first, in the order of sending, then the waiting ones.
  deliveries.sort((one, other) => (one.order || Number.MAX_SAFE_INTEGER) - (other.order || Number.MAX_SAFE_INTEGER) || one.id - other.id);
  const at = fields.get(atField);
  const ahead = fields.get(aheadField);
  return {
    session: { clientId, storedId: 0, ...head, subscriptions, received },
    deliveries,
    at: at && parseStateAt(at.toString("utf8")),
    ahead: ahead && parsePlace(ahead.toString("latin1")),
    broken,
    isFormer,
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

function readSubscription(filter: string, value: Buffer): StoredSubscription {
  const [qos, noLocal, retainAsPublished, retainHandling, identifier, storedId] = words(value);
  const options: SubscriptionOptions = {
    qos: wholeNumber(qos, 2) as Qos,
    noLocal: noLocal === "1",
    retainAsPublished: retainAsPublished === "1",
    retainHandling: wholeNumber(retainHandling, 2) as 0 | 1 | 2,
    identifier: wholeNumber(identifier, 0x0fff_ffff),
  };
  return { filter, options, storedId: wholeNumber(storedId ?? 0) };
}

function readDelivery(
  id: number,
  value: Buffer,
  progress: Buffer | undefined,
  filters: ReadonlyMap<number, string>,
): ReadDelivery & { readonly order: number } {
  const [packetId, released, order] = progress ? words(progress) : [];
  return {
    id,
    ...((value[0] ?? 0) < firstDigit ? readWithMessage(value) : readWithName(value, filters)),
    packetId: wholeNumber(packetId ?? 0, 0xffff),
    released: released === "1",
    order: wholeNumber(order ?? 0),
  };
}

type DeliveryFields = Pick<ReadDelivery, "qos" | "retain" | "name" | "message" | "identifiers" | "sharedFilter">;

const firstDigit = 0x30;

function readWithName(value: Buffer, filters: ReadonlyMap<number, string>): DeliveryFields {
  const [qos, retain, name = "", shared, identifiers = ""] = words(value);
  if (name === "") throw malformed("The delivery names no message.");
  return {
    qos: wholeNumber(qos, 2) as Qos,
    retain: retain === "1",
    name,
    message: undefined,
    sharedFilter: filters.get(wholeNumber(shared)) ?? "",
    identifiers: identifiers === "" ? [] : identifiers.split(",").map((identifier) => wholeNumber(identifier, 0x0fff_ffff)),
  };
}

/** The former form. */
function readWithMessage(value: Buffer): DeliveryFields {
  const reader = new ByteReader();
  reader.open(value, 0, value.length);
  const qos = wholeNumber(reader.byte(), 2) as Qos;
  const retain = reader.byte() === 1;
  const sharedFilter = reader.string();
  const identifiers: number[] = [];
  for (let count = reader.fourBytes(); count > 0; count--) identifiers.push(reader.fourBytes());
  const message = readMessage(reader);
  message.compact();
  return { qos, retain, name: "", message, sharedFilter, identifiers };
}

const words = (value: Buffer): string[] => value.toString("latin1").split(" ");

function wholeNumber(value: unknown, maximum = Number.MAX_SAFE_INTEGER): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0 || number > maximum) throw malformed("A number is out of range.");
  return number;
}
