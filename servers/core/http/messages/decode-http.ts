import type { HeaderList, HttpBody, HttpExchangeFacts, SseEventPart } from "../../../../contract/traffic/http.ts";
import type { WebSocketMessagePart } from "../../../../contract/traffic/websocket.ts";
import type { DetailDecoder, RecordedPart, RecordedRow } from "../../traffic/detail-decoder.ts";
import { RecordError, RecordReader } from "../../traffic/record-reader.ts";
import { bodySide, httpTag, isBinary, isEcho, isOverBudget, isSent, parseHead } from "../record/http-record.ts";
import {
  bodyWithoutCredentials,
  exchangeWithoutCredentials,
  rowWithoutCredentials,
  textWithoutCredentials,
} from "../record/without-credentials.ts";

export const httpDecoder: DetailDecoder<"http"> = {
  detail(recorded) {
    const { facts } = readExchange(recorded);
    return { kind: "http", ...facts, ...(recorded.parts.total > 0 && { parts: recorded.parts }) };
  },
  part: ({ index, at, bytes, content }): SseEventPart => ({ kind: "sse-event", index, at, bytes, text: content.toString("utf8") }),
  partWithoutCredentials: (part, found) =>
    part.kind !== "sse-event"
      ? part
      : { ...part, text: part.text.replace(/(?<=^data: ?)\S.*$/gm, (data) => textWithoutCredentials(data, found)) },
  withoutCredentials: exchangeWithoutCredentials,
};

export const webSocketDecoder: DetailDecoder<"websocket"> = {
  detail(recorded) {
    const { facts, closed } = readExchange(recorded);
    return { kind: "websocket", ...facts, parts: recorded.parts, ...(closed && { closed }) };
  },
  part: (part): WebSocketMessagePart => ({
    kind: "websocket-message",
    index: part.index,
    at: part.at,
    ...messageFacts(part),
    ...(isEcho(part.flags) && { echoOf: part.content.readUInt32LE(0), body: { bytes: part.bytes, base64: "" } }),
    ...(part.row !== 0 && { row: part.row }),
  }),
  withoutCredentials: exchangeWithoutCredentials,
};

export const webSocketMessageDecoder: DetailDecoder<"websocket-message"> = {
  detail({ row, detail, part }) {
    const { id, parent = 0, at, outcome, tookMs, bytesIn, verb } = row;
    const index = new RecordReader(detail).u32();
    const kept = part(parent, index);
    const facts = kept
      ? messageFacts(kept)
      : ({ direction: "received", type: verb === "binary" ? "binary" : "text", body: { bytes: bytesIn, base64: "" } } as const);
    return { kind: "websocket-message", id, parent, at, index, ...facts, outcome, ...(tookMs !== undefined && { tookMs }) };
  },
  withoutCredentials: ({ row, detail }, found) => ({
    row: rowWithoutCredentials(row, found),
    detail: detail && { ...detail, body: bodyWithoutCredentials(detail.body, found) },
  }),
};

const messageFacts = ({ flags, bytes, content }: RecordedPart) =>
  ({
    direction: isSent(flags) ? "sent" : "received",
    type: isBinary(flags) ? "binary" : "text",
    body: { bytes, base64: content.toString("base64"), ...(isOverBudget(flags) && { overBudget: true }) },
  }) as const;

/** Joins the pieces that were written one by one. */
function readExchange({ row, detail }: RecordedRow) {
  const reader = new RecordReader(detail);
  let httpVersion = "";
  let { target } = row;
  let headers: HeaderList = [];
  let trailers: HeaderList = [];
  let connection: HttpExchangeFacts["connection"] = { id: 0, remote: row.peer, local: "", requests: 0, openedAt: row.at };
  let response: { readonly status: number; readonly reason: string; readonly headers: HeaderList } | undefined;
  let aborted: string | undefined;
  let timing: HttpExchangeFacts["timing"] = {};
  let closed: { readonly code: number; readonly reason: string } | undefined;
  let unparsed: HttpBody | undefined;
  const bodies: readonly [Buffer[], Buffer[]] = [[], []];
  let isPart = false;
  const overBudget: [boolean, boolean] = [false, false];
  const hiddenIn: [number | undefined, number | undefined] = [undefined, undefined];

  while (!reader.atEnd) {
    switch (reader.u8()) {
      case httpTag.head:
        httpVersion = reader.text();
        headers = reader.pairs();
        connection = { ...reader.connection(row.peer), requests: reader.u32() };
        break;
      case httpTag.target:
        target = reader.text();
        break;
      case httpTag.requestBody:
        bodies[bodySide.request].push(reader.bytes());
        break;
      case httpTag.responseBody:
        bodies[bodySide.response].push(reader.bytes());
        break;
      case httpTag.hiddenIn: {
        const side = reader.u8();
        if (side === bodySide.request || side === bodySide.response) hiddenIn[side] = reader.u32();
        break;
      }
      case httpTag.overBudget: {
        const side = reader.u8();
        if (side === bodySide.request || side === bodySide.response) overBudget[side] = true;
        break;
      }
      case httpTag.partOfBody:
        isPart = true;
        break;
      case httpTag.responseHead:
        response = { status: reader.u32(), ...parseHead(reader.text()) };
        break;
      case httpTag.responseFields:
        response = { status: reader.u32(), reason: reader.text(), headers: reader.pairs() };
        break;
      case httpTag.trailers:
        trailers = reader.pairs();
        break;
      case httpTag.timing:
        timing = readTiming(reader);
        break;
      case httpTag.aborted:
        aborted = reader.text();
        break;
      case httpTag.closed:
        closed = { code: reader.u32(), reason: reader.text() };
        break;
      case httpTag.unparsed:
        unparsed = readUnparsed(reader);
        break;
      default:
        throw new RecordError("a piece of an exchange has an unknown tag");
    }
  }
  const body = (side: 0 | 1, bytes: number): HttpBody => ({
    bytes,
    base64: Buffer.concat(bodies[side]).toString("base64"),
    ...(hiddenIn[side] !== undefined && { hiddenIn: hiddenIn[side] }),
    ...(overBudget[side] && { overBudget: true }),
  });
  const facts: HttpExchangeFacts = {
    id: row.id,
    at: row.at,
    request: {
      method: row.verb,
      target,
      httpVersion,
      headers,
      trailers,
      body: { ...body(bodySide.request, row.bytesIn), ...(isPart && { isPart }) },
      ...(unparsed && { unparsed }),
    },
    ...(response && { response: { ...response, body: body(bodySide.response, row.bytesOut) } }),
    ...(aborted !== undefined && { aborted }),
    timing,
    connection,
  };
  return { facts, closed };
}

function readUnparsed(reader: RecordReader): HttpBody {
  const bytes = reader.u32();
  const kept = reader.u32();
  const shown = reader.bytes();
  return { bytes, base64: shown.toString("base64"), ...(shown.length !== kept && { hiddenIn: kept }) };
}

function readTiming(reader: RecordReader): HttpExchangeFacts["timing"] {
  const [receiveMs, answerMs, sendMs, totalMs] = [
    reader.milliseconds(),
    reader.milliseconds(),
    reader.milliseconds(),
    reader.milliseconds(),
  ];
  return {
    ...(receiveMs !== undefined && { receiveMs }),
    ...(answerMs !== undefined && { answerMs }),
    ...(sendMs !== undefined && { sendMs }),
    ...(totalMs !== undefined && { totalMs }),
  };
}
