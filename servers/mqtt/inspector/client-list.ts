import type { MqttClient, MqttClientPage } from "../../../contract/services/mqtt-client.ts";
import { firstWithin } from "../../core/service/first-within.ts";
import type { Engine } from "../engine/engine.ts";
import type { Subscription } from "../engine/routing/subscription.ts";
import { figuresOf } from "../engine/session/recipient.ts";
import type { Session } from "../engine/session/session.ts";
import { toComputerTime } from "../engine/steady-clock.ts";
import type { ClientFaults } from "./client-faults.ts";
import { firstInOrder } from "./sorted-list.ts";

const listedSubscriptions = 100;
/** Of the filters of one client, in characters; the first one is always there. */
const listedFilters = 256 << 10;
/** Names and filters that are compared between two looks at the clock. */
const looksOfStep = 128;
/** Of one list, in characters of names, which may have 65,535 each: it is sent twice a second. The first client is always there. */
const listedText = 1 << 20;

export interface ClientQuery {
  readonly text: string;
  readonly connected?: boolean | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** Thousands of long identifiers may begin alike: those stay in the order in which the sessions began. */
const comparedLength = 128;

/** Equal ones are sorted by name. */
export const connectedFirst = (one: Pick<Session, "recipient" | "clientId">, other: Pick<Session, "recipient" | "clientId">): number =>
  Number(other.recipient !== undefined) - Number(one.recipient !== undefined) ||
  compareTexts(one.clientId.slice(0, comparedLength), other.clientId.slice(0, comparedLength));

const compareTexts = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);

/** Without a search for a text, which looks at all subscriptions. */
export function listClients(engine: Engine, clientFaults: ClientFaults, query: Omit<ClientQuery, "text">): MqttClientPage {
  return pageOf(engine, clientFaults, query, [...engine.sessions.values()]);
}

/** In steps. */
export function* findClients(engine: Engine, clientFaults: ClientFaults, query: ClientQuery): Generator<undefined, MqttClientPage> {
  const text = query.text.toLowerCase();
  const matching: Session[] = [];
  let looks = 0;
  for (const session of engine.sessions.values()) {
    if (++looks % looksOfStep === 0) yield;
    if (query.connected !== undefined && query.connected !== (session.recipient !== undefined)) continue;
    let matches = text === "" || session.clientId.toLowerCase().includes(text);
    if (!matches) {
      for (const filter of session.subscriptions.keys()) {
        if (++looks % looksOfStep === 0) yield;
        matches = filter.toLowerCase().includes(text);
        if (matches) break;
      }
    }
    if (matches) matching.push(session);
  }
  return pageOf(engine, clientFaults, query, matching);
}

function pageOf(
  engine: Engine,
  clientFaults: ClientFaults,
  { offset, limit }: Omit<ClientQuery, "text">,
  matching: readonly Session[],
): MqttClientPage {
  const clients = firstInOrder(matching, offset + limit, connectedFirst)
    .slice(offset)
    .map((session) => describeClient(engine, session, clientFaults));
  return { at: Date.now(), clients: firstWithin(clients, listedText, textOf), matching: matching.length };
}

/** A client may have thousands. */
function firstSubscriptions({ subscriptions }: Session): readonly Subscription[] {
  const first: Subscription[] = [];
  for (const subscription of subscriptions.values()) {
    if (first.length === listedSubscriptions) break;
    first.push(subscription);
  }
  return firstWithin(first, listedFilters, ({ filter }) => filter.length);
}

const textOf = ({ clientId, username = "", will, subscriptions }: MqttClient): number =>
  clientId.length + username.length + (will?.topic.length ?? 0) + subscriptions.reduce((sum, { filter }) => sum + filter.length, 0);

export function describeClient(engine: Engine, session: Session, clientFaults: ClientFaults): MqttClient {
  const { will } = session;
  const connection = engine.clients.get(session.clientId);
  const username = connection?.identity.username;
  // Unknown where the session was restored, or came from another broker.
  const { sendWindow, ...figures } = connection ? figuresOf(connection) : (session.lastConnection ?? { version: session.v5 ? 5 : 4 });
  const activeFault = clientFaults.of(session.clientId);
  return {
    clientId: session.clientId,
    connected: connection !== undefined,
    ...figures,
    ...(username !== undefined && { username }),
    since: connection?.since ?? toComputerTime(session.disconnectedAt),
    sessionExpirySeconds: session.expirySeconds,
    subscriptions: firstSubscriptions(session).map(({ filter, options }) => ({ filter, ...options })),
    subscriptionCount: session.subscriptions.size,
    ...(will && {
      will: { topic: will.message.topic, qos: will.message.qos, retain: will.message.retain, delaySeconds: will.delaySeconds },
    }),
    queued: session.queue.length,
    queuedBytes: session.queue.bytes,
    queueLimit: engine.limits.queueMessages,
    inflight: session.inflight.size,
    ...(sendWindow !== undefined && { inflightLimit: sendWindow }),
    dropped: session.dropped,
    unreadBytes: connection?.output.pendingBytes ?? 0,
    ...(activeFault && { activeFault }),
  };
}
