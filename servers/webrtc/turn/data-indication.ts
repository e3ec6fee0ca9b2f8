import { randomFillSync } from "node:crypto";
import { stunAttributes, stunMethods } from "../stun/stun-attributes.ts";
import { headerBytes, magicCookie } from "../stun/stun-message.ts";
import { encodeXorAddress } from "../stun/transport-address.ts";
import { messageType, paddedLength, writeStun } from "../stun/write-stun.ts";

const dataIndication = messageType("indication", stunMethods.data);

/** Magic cookie and a new transaction id. */
const transaction = Buffer.alloc(16);
transaction.writeUInt32BE(magicCookie);
/** Random bytes for the next transactions: asking for them one by one costs more than the rest of the message. */
const random = Buffer.alloc(12 * 256);
let randomAt = random.length;

function newTransaction(): Buffer {
  if (randomAt === random.length) {
    randomFillSync(random);
    randomAt = 0;
  }
  random.copy(transaction, 4, randomAt, randomAt + 12);
  randomAt += 12;
  return transaction;
}

/** What a client gets of a peer that has no channel (RFC 8656 §11.3). */
export function writeDataIndication(address: string, port: number, data: Buffer): Buffer {
  const peer = encodeXorAddress(address, port, newTransaction());
  const dataAt = headerBytes + 4 + peer.length;
  const end = dataAt + 4 + data.length;
  const bytes = Buffer.allocUnsafe(paddedLength(end));
  bytes.writeUInt16BE(dataIndication);
  bytes.writeUInt16BE(bytes.length - headerBytes, 2);
  transaction.copy(bytes, 4);
  bytes.writeUInt16BE(stunAttributes.xorPeerAddress, headerBytes);
  bytes.writeUInt16BE(peer.length, headerBytes + 2);
  peer.copy(bytes, headerBytes + 4);
  bytes.writeUInt16BE(stunAttributes.data, dataAt);
  bytes.writeUInt16BE(data.length, dataAt + 2);
  data.copy(bytes, dataAt + 4);
  bytes.fill(0, end);
  return bytes;
}

/** Type and code by the system's error, for IPv4 (RFC 792, RFC 1191) and IPv6 (RFC 4443). */
const icmpErrors: Readonly<Record<string, { readonly IPv4: readonly [number, number]; readonly IPv6: readonly [number, number] }>> = {
  EMSGSIZE: { IPv4: [3, 4], IPv6: [2, 0] },
  EHOSTUNREACH: { IPv4: [3, 1], IPv6: [1, 3] },
  ENETUNREACH: { IPv4: [3, 0], IPv6: [1, 0] },
  EACCES: { IPv4: [3, 13], IPv6: [1, 1] },
  ECONNREFUSED: { IPv4: [3, 3], IPv6: [1, 4] },
};

/** RFC 8656 §11.5; undefined for an error that has no message of ICMP. */
export function writeIcmpIndication(error: string, family: "IPv4" | "IPv6", address: string, port: number): Buffer | undefined {
  const [type, code] = icmpErrors[error]?.[family] ?? [];
  if (type === undefined || code === undefined) return undefined;
  newTransaction();
  return writeStun({
    messageClass: "indication",
    method: stunMethods.data,
    transaction,
    attributes: [
      [stunAttributes.xorPeerAddress, encodeXorAddress(address, port, transaction)],
      // Two reserved bytes, type, code, and four bytes of the error's data.
      [stunAttributes.icmp, Buffer.from([0, 0, type, code, 0, 0, 0, 0])],
    ],
    fingerprint: false,
  });
}
