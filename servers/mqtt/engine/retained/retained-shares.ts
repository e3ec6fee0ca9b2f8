import type { Message } from "../routing/message.ts";
import { type Ranked, RankedHeap } from "../session/ranked-heap.ts";

/** Memory of a writer with its set of messages, and of the address of one (estimated). */
export const writerBytes = 450;
/** What a message takes beside its bytes, however short it is. */
const leastBytes = 500;

const weightOf = ({ bytes }: Message): number => leastBytes + bytes;

class Share implements Ranked {
  rank = 0;
  order = 0;
  place = -1;
  weight = 0;
}

/** What one client wrote, the oldest first. */
class Writer extends Share {
  readonly messages = new Set<Message>();
  readonly address: Address;
  readonly clientId: string;

  constructor(address: Address, clientId: string) {
    super();
    this.address = address;
    this.clientId = clientId;
  }
}

/** What was written from one address: that of the connection, as `rateLimitKey` has it; empty if it is not known. */
class Address extends Share {
  readonly writers = new Map<string, Writer>();
  /** Who wrote most is first. */
  readonly largest = new RankedHeap<Writer>();
  readonly key: string;

  constructor(key: string) {
    super();
    this.key = key;
  }
}

/** Retained messages by who wrote them: by address, and then by client. */
export class RetainedShares {
  private readonly addresses = new Map<string, Address>();
  private readonly largest = new RankedHeap<Address>();
  /** Clients with retained messages. */
  writers = 0;

  add(message: Message): void {
    const { publisherAddress: key, publisherId } = message;
    let address = this.addresses.get(key);
    if (!address) {
      address = new Address(key);
      this.addresses.set(key, address);
    }
    let writer = address.writers.get(publisherId);
    if (!writer) {
      writer = new Writer(address, publisherId);
      address.writers.set(publisherId, writer);
      this.writers++;
    }
    writer.messages.add(message);
    this.count(writer, weightOf(message));
  }

  remove(message: Message): void {
    const writer = this.addresses.get(message.publisherAddress)?.writers.get(message.publisherId);
    if (writer?.messages.delete(message)) this.count(writer, -weightOf(message));
  }

  private count(writer: Writer, weight: number): void {
    const { address } = writer;
    writer.weight += weight;
    address.weight += weight;
    if (writer.messages.size > 0) address.largest.put(writer, -writer.weight);
    else {
      address.largest.remove(writer);
      address.writers.delete(writer.clientId);
      this.writers--;
    }
    if (address.writers.size > 0) this.largest.put(address, -address.weight);
    else {
      this.largest.remove(address);
      this.addresses.delete(address.key);
    }
  }

  /** The oldest message of who wrote most, if that is more than what the newcomer's writer has with it, or there is no newcomer. */
  oldestOfLargest(newcomer?: Message): Message | undefined {
    const address = this.largest.first;
    const writer = address?.largest.first;
    if (!address || !writer) return undefined;
    if (newcomer && !this.hasLess(newcomer, address, writer)) return undefined;
    const [oldest] = writer.messages;
    return oldest;
  }

  private hasLess(newcomer: Message, address: Address, writer: Writer): boolean {
    const own = this.addresses.get(newcomer.publisherAddress);
    const [most, fewer] = own === address ? [writer, own.writers.get(newcomer.publisherId)] : [address, own];
    return most.weight > (fewer?.weight ?? 0) + weightOf(newcomer);
  }
}
