import { StacklessError } from "../../core/service/stackless-error.ts";
import { firstOptionalAttribute, stunAttributes, stunMethods } from "../stun/stun-attributes.ts";
import { attributeOf, type StunMessage } from "../stun/stun-message.ts";
import {
  type AddressFamily,
  decodeXorAddress,
  encodeAddress,
  encodeXorAddress,
  familyNumbers,
  type TransportAddress,
} from "../stun/transport-address.ts";
import { errorCodeValue, type IntegrityKey, uint16List, uint32, type WrittenAttribute, writeStun } from "../stun/write-stun.ts";
import type { Allocation, TurnClient } from "./allocation.ts";
import type { AllocationTable, OpenedAllocation } from "./allocation-table.ts";
import type { Authenticated, Authentication } from "./authentication.ts";
import type { PeerPolicy } from "./peer-policy.ts";
import type { TransactionCache } from "./transaction-cache.ts";
import { faultReasons, type RequestMethod, type TurnRequestEvent, type TurnTrouble } from "./turn-observer.ts";

/** In milliseconds. */
export interface TurnLifetimes {
  /** Of an allocation whose client asks for no lifetime, or for a shorter one. */
  readonly allocation: number;
  readonly longestAllocation: number;
  readonly permission: number;
  readonly channel: number;
}

export interface RequestHandlerOptions {
  /** The value of SOFTWARE. */
  readonly software: string;
  readonly authentication: Authentication;
  readonly table: AllocationTable;
  readonly transactions: TransactionCache;
  readonly isPeerAllowed: PeerPolicy;
  readonly supports: (family: AddressFamily) => boolean;
  /** The system sends datagrams that no router may fragment. */
  readonly supportsDontFragment: boolean;
  readonly lifetimes: TurnLifetimes;
  /** Steady, in milliseconds. */
  readonly now: () => number;
  /** Whether a client whose request shows no right credentials gets the error. */
  readonly mayAnswer: (client: TurnClient) => boolean;
  readonly onRequest: (event: TurnRequestEvent) => void;
  readonly onRepeated: () => void;
  readonly onFault: (client: TurnClient, error: unknown) => void;
}

/** A request that is answered with an error. */
class StunRefusal extends StacklessError {
  readonly code: number;
  readonly attributes: readonly WrittenAttribute[];

  constructor(code: number, why: string, attributes: readonly WrittenAttribute[] = []) {
    super(why);
    this.code = code;
    this.attributes = attributes;
  }
}

interface Request {
  readonly message: StunMessage;
  readonly client: TurnClient;
  readonly method: RequestMethod;
}
type AuthenticatedRequest = Request & Authenticated;

const requestMethods: ReadonlyMap<number, RequestMethod> = new Map([
  [stunMethods.binding, "binding"],
  [stunMethods.allocate, "allocate"],
  [stunMethods.refresh, "refresh"],
  [stunMethods.createPermission, "create permission"],
  [stunMethods.channelBind, "channel bind"],
]);

/** RFC 8656 §12, and those of RFC 5766 §11, which clients still use. */
const channelNumbers = { first: 0x4000, last: 0x7fff };
const udpProtocol = 17;
const noneFree =
  "no place (TURN_ALLOCATIONS) or no port (TURN_RELAY_PORT to TURN_RELAY_LAST_PORT) is free, and no other address has more of them";
const tokenBytes = 8;

/** Answers the requests of STUN and TURN. */
export class RequestHandler {
  trouble: TurnTrouble = {};
  readonly #options: RequestHandlerOptions;
  readonly #software: WrittenAttribute;
  readonly #known: ReadonlySet<number>;

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
    this.#software = [stunAttributes.software, Buffer.from(options.software)];
    const known = new Set<number>(Object.values(stunAttributes));
    known.delete(stunAttributes.changeRequest);
    if (!options.supportsDontFragment) known.delete(stunAttributes.dontFragment);
    this.#known = known;
  }

  /** False for a message that is not one of these requests. */
  handle(message: StunMessage, client: TurnClient): boolean {
    const method = requestMethods.get(message.method);
    if (!method || message.messageClass !== "request" || (message.isClassic && method !== "binding")) return false;
    const request: Request = { message, client, method };
    if (method === "binding") {
      this.#answerBinding(request);
      return true;
    }
    const response = this.#options.transactions.find(client, message.bytes);
    if (response) {
      client.send(response);
      this.#options.onRepeated();
    } else if (!(client.isAllocating && client.transport === "udp")) {
      // Over UDP a request while ports are being bound is the same one again: it is answered once.
      this.#answerTurn(request);
    }
    return true;
  }

  /** Whether an indication has attributes that must be understood and are not: it is dropped (RFC 8489 §6.3.2). */
  knowsTooLittleOf(message: StunMessage): boolean {
    return this.#unknownAttributes(message).length > 0;
  }

  #answerBinding(request: Request): void {
    const { message, client } = request;
    const unknown = message.isClassic ? classicUnknown(message) : this.#unknownAttributes(message);
    if (unknown.length > 0) this.#refuse(request, unknownAttribute(unknown), undefined, undefined);
    else if (message.isClassic)
      this.#succeed(request, [[stunAttributes.mappedAddress, encodeAddress(client.address, client.port)]], undefined, undefined);
    else this.#succeed(request, [mappedAddress(request)], undefined, undefined);
  }

  #answerTurn(request: Request): void {
    const { message, client } = request;
    const checked = this.#authenticate(request);
    if ("code" in checked) {
      this.#refuse(request, new StunRefusal(checked.code, checked.why, checked.attributes), checked.username, undefined);
      return;
    }
    const authenticated: AuthenticatedRequest = { ...request, ...checked };
    const { username, integrity } = checked;
    const fail = (error: unknown) => {
      if (!(error instanceof StunRefusal)) this.#options.onFault(client, error);
      const refusal = error instanceof StunRefusal ? error : new StunRefusal(500, "a fault of the server");
      this.#refuse(request, refusal, username, integrity);
    };
    try {
      const unknown = this.#unknownAttributes(message);
      if (unknown.length > 0) throw unknownAttribute(unknown);
      if (client.allocation && client.allocation.username !== username)
        throw new StunRefusal(441, `the allocation belongs to ${client.allocation.username}`);
      const attributes = this.#perform(authenticated);
      if (attributes instanceof Promise) attributes.then((written) => this.#succeed(request, written, username, integrity), fail);
      else this.#succeed(request, attributes, username, integrity);
    } catch (error) {
      fail(error);
    }
  }

  #authenticate({ message, client }: Request) {
    const { authentication } = this.#options;
    const checked = authentication.check(message, client.address, client.allocation);
    const isRejected = !("code" in checked) && this.trouble.rejectCredentials?.(checked.user);
    return isRejected ? authentication.reject(faultReasons.rejected, checked.username) : checked;
  }

  #perform(request: AuthenticatedRequest): readonly WrittenAttribute[] | Promise<readonly WrittenAttribute[]> {
    if (request.method === "allocate") return this.#allocate(request);
    const { allocation } = request.client;
    if (!allocation) throw new StunRefusal(437, "there is no allocation for this address and port");
    if (request.method === "refresh") return this.#refresh(request, allocation);
    return request.method === "create permission" ? this.#createPermission(request, allocation) : this.#bindChannel(request, allocation);
  }

  /** RFC 8656 §7.2 */
  async #allocate(request: AuthenticatedRequest): Promise<readonly WrittenAttribute[]> {
    const { message, client, username, user } = request;
    const { table, lifetimes } = this.#options;
    if (client.allocation || client.isAllocating) throw new StunRefusal(437, "there is an allocation for this address and port");
    const transport = attributeOf(message, stunAttributes.requestedTransport);
    if (transport?.length !== 4) throw new StunRefusal(400, "without REQUESTED-TRANSPORT");
    if (transport[0] !== udpProtocol) throw new StunRefusal(442, `protocol ${transport[0]} is asked for; only UDP is relayed`);
    const lifetimeMs = wantedLifetime(message, lifetimes);
    const relays = this.#wantedRelays(message);
    const refusedWith = this.trouble.refuseAllocations?.(user);
    if (refusedWith !== undefined) throw new StunRefusal(refusedWith, faultReasons.refused);
    const opened = await table.open({ client, username, user, software: softwareOf(message), lifetimeMs, ...relays });
    if (opened === 486) throw new StunRefusal(486, `${user} has as many allocations as a user may have`);
    if (opened === 508) throw new StunRefusal(508, relays.token ? "there is no reservation with this token" : noneFree);
    return [...openedAttributes(request, opened, lifetimeMs), ...this.#missingFamilies(opened.missing)];
  }

  #wantedRelays(message: StunMessage) {
    const token = attributeOf(message, stunAttributes.reservationToken);
    const evenPort = attributeOf(message, stunAttributes.evenPort);
    const requested = attributeOf(message, stunAttributes.requestedAddressFamily);
    const additional =
      attributeOf(message, stunAttributes.additionalAddressFamily) ?? attributeOf(message, stunAttributes.additionalAddressFamilyOfDraft);
    if (token && (token.length !== tokenBytes || evenPort || requested || additional))
      throw new StunRefusal(400, "RESERVATION-TOKEN is damaged, or beside EVEN-PORT or an address family");
    if (evenPort && evenPort.length !== 1) throw new StunRefusal(400, "EVEN-PORT is damaged");
    const reservesNext = ((evenPort?.[0] ?? 0) & 0x80) !== 0;
    if (additional && (requested || reservesNext || additional[0] !== familyNumbers.IPv6))
      throw new StunRefusal(400, "ADDITIONAL-ADDRESS-FAMILY is not IPv6, or beside REQUESTED-ADDRESS-FAMILY or a reserved port");
    const first = requested ? familyFrom(requested) : "IPv4";
    const families: readonly AddressFamily[] = additional ? ["IPv4", "IPv6"] : [first];
    if (!token && !families.some((family) => this.#options.supports(family))) throw new StunRefusal(440, `there are no relays of ${first}`);
    return { families, isEven: evenPort !== undefined, reservesNext, token };
  }

  #missingFamilies(missing: readonly AddressFamily[]): readonly WrittenAttribute[] {
    return missing.map((family) => {
      const code = this.#options.supports(family) ? 508 : 440;
      return [stunAttributes.addressErrorCode, errorCodeValue(code, familyNumbers[family])];
    });
  }

  /** RFC 8656 §8.2 */
  #refresh({ message }: AuthenticatedRequest, allocation: Allocation): readonly WrittenAttribute[] {
    const { table, lifetimes, now } = this.#options;
    const requested = attributeOf(message, stunAttributes.requestedAddressFamily);
    const family = requested && familyFrom(requested);
    if (family && !allocation.relayOf(family)) throw new StunRefusal(443, `the allocation has no relay of ${family}`);
    if (askedLifetime(message) === 0) {
      // A dual allocation loses one family, or both.
      if (!(family && allocation.closeRelay(family))) table.close(allocation, "refreshed with lifetime 0");
      return [[stunAttributes.lifetime, uint32(0)]];
    }
    const lifetimeMs = wantedLifetime(message, lifetimes);
    allocation.expiresAt = now() + lifetimeMs;
    return [lifetimeAttribute(lifetimeMs)];
  }

  /** RFC 8656 §10.2 */
  #createPermission({ message }: AuthenticatedRequest, allocation: Allocation): readonly WrittenAttribute[] {
    const peers = message.attributes.filter(({ type }) => type === stunAttributes.xorPeerAddress);
    if (peers.length === 0) throw new StunRefusal(400, "without XOR-PEER-ADDRESS");
    const addresses = peers.map(({ value }) => this.#allowedPeer(message, value, allocation).address);
    if (!allocation.permit(addresses, this.#options.now() + this.#options.lifetimes.permission))
      throw new StunRefusal(508, "the allocation has as many permissions as it may have");
    return [];
  }

  /** RFC 8656 §12.2 */
  #bindChannel({ message }: AuthenticatedRequest, allocation: Allocation): readonly WrittenAttribute[] {
    const { lifetimes, now } = this.#options;
    const number = attributeOf(message, stunAttributes.channelNumber);
    const peer = attributeOf(message, stunAttributes.xorPeerAddress);
    if (number?.length !== 4 || !peer) throw new StunRefusal(400, "without CHANNEL-NUMBER or XOR-PEER-ADDRESS");
    const channel = number.readUInt16BE();
    if (channel < channelNumbers.first || channel > channelNumbers.last) throw new StunRefusal(400, `${channel} is not a channel number`);
    const { address, port, family } = this.#allowedPeer(message, peer, allocation);
    const relay = allocation.relayOf(family);
    if (!relay || port === 0) throw new StunRefusal(400, "a peer's port is not 0");
    const at = now();
    const result = allocation.bind(channel, address, port, relay, at + lifetimes.channel, at + lifetimes.permission);
    if (result === "conflict") throw new StunRefusal(400, "the channel has another peer, or the peer another channel");
    if (result === "full") throw new StunRefusal(508, "the allocation has as many channels or permissions as it may have");
    return [];
  }

  #allowedPeer(message: StunMessage, value: Buffer, allocation: Allocation): TransportAddress {
    const peer = decodeXorAddress(value, message.transaction);
    if (!peer) throw new StunRefusal(400, "XOR-PEER-ADDRESS is damaged");
    if (!this.#options.isPeerAllowed(peer.address, allocation.client.address))
      throw new StunRefusal(403, `${peer.address} is not among the allowed peers`);
    // A mapped address is one of IPv4, which no socket of IPv6 here sends to.
    if (!allocation.relayOf(peer.family) || peer.address.startsWith("::ffff:"))
      throw new StunRefusal(443, `the allocation has no relay for ${peer.address}`);
    return peer;
  }

  #unknownAttributes({ attributes }: StunMessage): readonly number[] {
    const unknown = attributes.filter(({ type }) => type < firstOptionalAttribute && !this.#known.has(type));
    return [...new Set(unknown.map(({ type }) => type))];
  }

  #succeed(
    request: Request,
    attributes: readonly WrittenAttribute[],
    username: string | undefined,
    integrity: IntegrityKey | undefined,
  ): void {
    const answer = this.#respond(request, "success", attributes, integrity);
    this.#report(request, { code: 0, why: undefined, username, answer });
  }

  #refuse(request: Request, refusal: StunRefusal, username: string | undefined, integrity: IntegrityKey | undefined): void {
    const error: WrittenAttribute = [stunAttributes.errorCode, errorCodeValue(refusal.code)];
    const answer = this.#respond(request, "error", [error, ...refusal.attributes], integrity);
    this.#report(request, { code: refusal.code, why: refusal.message, username, answer });
  }

  /** Returns what was sent. */
  #respond(
    { message, client }: Request,
    messageClass: "success" | "error",
    attributes: readonly WrittenAttribute[],
    integrity: IntegrityKey | undefined,
  ): Buffer | undefined {
    const { method, transaction, isClassic, bytes } = message;
    // Whoever sends under another's address must not send it many bytes for few.
    const isUnproven = messageClass === "error" && !integrity;
    if (isUnproven && !this.#options.mayAnswer(client)) return undefined;
    const all = isClassic || isUnproven ? attributes : [...attributes, this.#software];
    const response = writeStun({ messageClass, method, transaction, attributes: all, integrity, fingerprint: !isClassic });
    if (integrity) this.#options.transactions.add(client, bytes, response);
    client.send(response);
    return response;
  }

  #report({ client, message, method }: Request, result: Pick<TurnRequestEvent, "code" | "why" | "username" | "answer">): void {
    const { transport, address, port, allocation } = client;
    const software = softwareOf(message);
    const request = message.bytes;
    this.#options.onRequest({ client: { transport, address, port }, method, ...result, software, allocation: allocation?.id, request });
  }
}

const mappedAddress = ({ message, client }: Request): WrittenAttribute => [
  stunAttributes.xorMappedAddress,
  encodeXorAddress(client.address, client.port, message.transaction),
];

const lifetimeAttribute = (lifetimeMs: number): WrittenAttribute => [stunAttributes.lifetime, uint32(Math.round(lifetimeMs / 1_000))];

function openedAttributes(request: Request, { allocation, token }: OpenedAllocation, lifetimeMs: number): readonly WrittenAttribute[] {
  const { transaction } = request.message;
  return [
    ...allocation.relays.map(
      ({ address, port }): WrittenAttribute => [stunAttributes.xorRelayedAddress, encodeXorAddress(address, port, transaction)],
    ),
    lifetimeAttribute(lifetimeMs),
    mappedAddress(request),
    ...(token ? [[stunAttributes.reservationToken, token] as const] : []),
  ];
}

const unknownAttribute = (types: readonly number[]): StunRefusal =>
  new StunRefusal(420, `unknown attributes: ${types.map((type) => `0x${type.toString(16).padStart(4, "0")}`).join(", ")}`, [
    [stunAttributes.unknownAttributes, uint16List(types)],
  ]);

/** RFC 3489 §11.2: what would have the response come from, or go to, another address; there is only one. */
function classicUnknown({ attributes }: StunMessage): readonly number[] {
  const responseAddress = 0x0002;
  return attributes.flatMap(({ type, value }) =>
    type === responseAddress || (type === stunAttributes.changeRequest && value.some((byte) => byte !== 0)) ? [type] : [],
  );
}

function familyFrom(value: Buffer): AddressFamily {
  if (value[0] === familyNumbers.IPv4) return "IPv4";
  if (value[0] === familyNumbers.IPv6) return "IPv6";
  throw new StunRefusal(440, `address family ${value[0]} is asked for`);
}

/** In seconds; undefined if the client leaves it to the server. */
function askedLifetime(message: StunMessage): number | undefined {
  const value = attributeOf(message, stunAttributes.lifetime);
  if (value && value.length !== 4) throw new StunRefusal(400, "LIFETIME is damaged");
  return value?.readUInt32BE();
}

/** RFC 8656 §7.2: not below the default, not above the maximum. */
const wantedLifetime = (message: StunMessage, { allocation, longestAllocation }: TurnLifetimes): number =>
  Math.min(longestAllocation, Math.max(allocation, 1_000 * (askedLifetime(message) ?? 0)));

function softwareOf(message: StunMessage): string | undefined {
  const value = attributeOf(message, stunAttributes.software);
  // RFC 8489 §14.14: fewer than 128 characters.
  return value?.toString("utf8", 0, Math.min(value.length, 128));
}
