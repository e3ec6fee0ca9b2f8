import { type WebrtcPeer, type WebrtcSignal, webrtcDialects, webrtcSignalKinds } from "../../../contract/traffic/webrtc.ts";
import { base64WithoutCredentials, rowWithoutCredentials } from "../../core/http/record/without-credentials.ts";
import type { DetailDecoder, RecordedRow } from "../../core/traffic/detail-decoder.ts";
import { RecordError, RecordReader } from "../../core/traffic/record-reader.ts";

/** What is read of a record. */
export type RecordBytes = Pick<RecordedRow, "row" | "detail">;

/** Tags of the pieces of a peer's detail. */
export const peerTag = { head: 1, state: 2 } as const;

export const peerDecoder: DetailDecoder<"webrtc-peer"> = {
  detail: readPeer,
  withoutCredentials: ({ row, detail }, found) => ({ row: rowWithoutCredentials(row, found), detail }),
};

/** Of the states that were written one after the other, the last one counts. */
/** Throws a RecordError for bytes that are no peer. */
export function readPeer({ row, detail }: RecordBytes): WebrtcPeer {
  const reader = new RecordReader(detail);
  let head: ReturnType<typeof readHead> | undefined;
  let state: ReturnType<typeof readState> | undefined;
  while (!reader.atEnd) {
    const tag = reader.u8();
    if (tag === peerTag.head) head = readHead(reader, row.peer);
    else if (tag === peerTag.state) state = readState(reader);
    else throw new RecordError("a piece of a peer has an unknown tag");
  }
  if (!head || !state) throw new RecordError("a peer has no head");
  return { kind: "webrtc-peer", id: row.id, at: row.at, peer: row.target, ...head, ...state };
}

function readHead(reader: RecordReader, remote: string) {
  const connection = reader.connection(remote);
  const dialect = webrtcDialects[reader.u8()] ?? "json";
  const userAgent = reader.text();
  const origin = reader.text();
  return { connection, dialect, userAgent, ...(origin !== "" && { origin }) };
}

function readState(reader: RecordReader) {
  const name = reader.text();
  const rooms: string[] = [];
  for (let left = reader.u32(); left > 0; left--) rooms.push(reader.text());
  const [received, sent] = [reader.f64(), reader.f64()];
  const ended = reader.text();
  const totalMs = reader.milliseconds();
  return { name, rooms, received, sent, ...(ended !== "" && { ended }), ...(totalMs !== undefined && { totalMs }) };
}

export const signalDecoder: DetailDecoder<"webrtc-signal"> = {
  detail: readSignal,
  withoutCredentials: ({ row, detail }, found) => ({
    row: rowWithoutCredentials(row, found),
    detail: detail && { ...detail, base64: base64WithoutCredentials(detail.base64, found, undefined, "perhaps") },
  }),
};

function readSignal(recorded: RecordBytes): WebrtcSignal {
  const { message, isLost: _, ...signal } = readRecordedSignal(recorded);
  return { ...signal, base64: message.toString("base64") };
}

/** The message as it came, cut where it is longer than the recorder's limit, and whether it reached nobody that it was meant for. */
export type RecordedSignal = Omit<WebrtcSignal, "base64"> & { readonly message: Buffer; readonly isLost: boolean };

/** Throws a RecordError for bytes that are no signal. */
export function readRecordedSignal({ row, detail }: RecordBytes): RecordedSignal {
  const reader = new RecordReader(detail);
  const signal = webrtcSignalKinds[reader.u8()] ?? "bad";
  const dialect = webrtcDialects[reader.u8()] ?? "json";
  const [from, to, room] = [reader.text(), reader.text(), reader.text()];
  let isLost = reader.u8() === 1;
  let deliveries = reader.u32();
  const bytes = reader.u32();
  const message = reader.bytes();
  // What became of it after it was held back.
  while (!reader.atEnd) [isLost, deliveries] = [reader.u8() === 1, reader.u32()];
  return {
    kind: "webrtc-signal",
    id: row.id,
    at: row.at,
    signal,
    dialect,
    from,
    deliveries,
    outcome: row.outcome,
    bytes,
    message,
    isLost,
    ...(row.parent !== undefined && { parent: row.parent }),
    ...(to !== "" && { to }),
    ...(room !== "" && { room }),
  };
}
