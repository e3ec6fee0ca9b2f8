import type { TurnAllocation, TurnRequest, TurnTransport } from "../../../contract/traffic/webrtc.ts";
import { rowWithoutCredentials } from "../../core/http/record/without-credentials.ts";
import type { DetailDecoder } from "../../core/traffic/detail-decoder.ts";
import { RecordError, RecordReader } from "../../core/traffic/record-reader.ts";
import { describeStun } from "../stun/describe-stun.ts";
import type { RecordBytes } from "./webrtc-records.ts";

export const turnTransports: readonly TurnTransport[] = ["udp", "tcp", "tls"];

/** Tags of the pieces of an allocation's detail. */
export const allocationTag = { head: 1, state: 2 } as const;

const noBytes = Buffer.alloc(0);

/** Neither has a password: names of users and nonces are sent in the clear, and MESSAGE-INTEGRITY is not shown. */
export const turnRequestDecoder: DetailDecoder<"turn-request"> = {
  detail: readTurnRequest,
  withoutCredentials: ({ row, detail }, found) => ({ row: rowWithoutCredentials(row, found), detail }),
};

/** Throws a RecordError for bytes that are no request. */
export function readTurnRequest({ row, detail }: RecordBytes): TurnRequest {
  const reader = new RecordReader(detail);
  const transport = turnTransports[reader.u8()] ?? "udp";
  const code = reader.u32();
  const [username, software] = [reader.text(), reader.text()];
  // Rows of older versions have no messages.
  const [request, answer] = reader.atEnd ? [noBytes, noBytes] : [reader.bytes(), reader.bytes()];
  return {
    kind: "turn-request",
    id: row.id,
    at: row.at,
    transport,
    remote: row.peer,
    method: row.verb,
    code,
    ...(row.parent !== undefined && { parent: row.parent }),
    ...(row.reason !== undefined && { why: row.reason }),
    ...(username !== "" && { username }),
    ...(software !== "" && { software }),
    ...(request.length > 0 && { request: describeStun(request) }),
    ...(answer.length > 0 && { answer: describeStun(answer) }),
  };
}

export const turnAllocationDecoder: DetailDecoder<"turn-allocation"> = {
  detail: readTurnAllocation,
  withoutCredentials: ({ row, detail }, found) => ({ row: rowWithoutCredentials(row, found), detail }),
};

/** Of the states that were written one after the other, the last one counts. Throws a RecordError for bytes that are no allocation. */
export function readTurnAllocation({ row, detail }: RecordBytes): TurnAllocation {
  const reader = new RecordReader(detail);
  let head: ReturnType<typeof readHead> | undefined;
  let state: ReturnType<typeof readState> | undefined;
  while (!reader.atEnd) {
    const tag = reader.u8();
    if (tag === allocationTag.head) head = readHead(reader);
    else if (tag === allocationTag.state) state = readState(reader);
    else throw new RecordError("a piece of an allocation has an unknown tag");
  }
  if (!head || !state) throw new RecordError("an allocation has no head");
  return { kind: "turn-allocation", id: row.id, at: row.at, remote: row.peer, ...head, ...state };
}

function readHead(reader: RecordReader) {
  const transport = turnTransports[reader.u8()] ?? "udp";
  const allocation = reader.f64();
  const [user, username, software] = [reader.text(), reader.text(), reader.text()];
  return { transport, allocation, user, username, ...(software !== "" && { software }) };
}

function readState(reader: RecordReader) {
  const relayed = readList(reader, () => reader.text());
  const permissions = readList(reader, () => reader.text());
  const channels = readList(reader, () => ({ number: reader.u32(), peer: reader.text() }));
  const toPeers = { datagrams: reader.f64(), bytes: reader.f64() };
  const fromPeers = { datagrams: reader.f64(), bytes: reader.f64() };
  const lost = reader.f64();
  const ended = reader.text();
  const totalMs = reader.milliseconds();
  return {
    relayed,
    permissions,
    channels,
    toPeers,
    fromPeers,
    lost,
    ...(ended !== "" && { ended }),
    ...(totalMs !== undefined && { totalMs }),
  };
}

function readList<Item>(reader: RecordReader, read: () => Item): Item[] {
  const items: Item[] = [];
  for (let left = reader.u32(); left > 0; left--) items.push(read());
  return items;
}
