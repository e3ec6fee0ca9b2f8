import { redactTarget } from "../../../contract/traffic/redact-target.ts";
import { type RtspMessagePart, type RtspSession, type RtspSessionTrack, rtspRoles } from "../../../contract/traffic/rtsp.ts";
import { hidden } from "../../../contract/traffic/secret-headers.ts";
import type { FoundCredentials } from "../../core/credentials/found-credentials.ts";
import { fieldsWithoutCredentials, rowWithoutCredentials, targetWithoutCredentials } from "../../core/http/record/without-credentials.ts";
import type { DetailDecoder, RecordedRow } from "../../core/traffic/detail-decoder.ts";
import { RecordError, RecordReader } from "../../core/traffic/record-reader.ts";

/** Tags of the pieces of a session's detail. */
export const sessionTag = { head: 1, state: 2 } as const;

/** Of a part: the service has sent the message. */
export const sentFlag = 1;

export const sessionDecoder: DetailDecoder<"rtsp"> = {
  detail: readSession,
  part: ({ index, at, bytes, flags, content }): RtspMessagePart => ({
    kind: "rtsp-message",
    index,
    at,
    direction: (flags & sentFlag) === 0 ? "received" : "sent",
    bytes,
    base64: content.toString("base64"),
  }),
  // Whoever knows the identifier of an open session can use it.
  withoutCredentials({ row, detail }, found) {
    const { session, ...rest } = detail ?? {};
    if (session !== undefined) found.add(session);
    return { row: rowWithoutCredentials(row, found), detail: detail && (rest as RtspSession) };
  },
  partWithoutCredentials: (part, found) =>
    part.kind === "rtsp-message" ? { ...part, base64: messageWithoutCredentials(part.base64, found) } : part,
};

/** A head with fields as in HTTP, and a body, which may be a description. */
function messageWithoutCredentials(base64: string, found: FoundCredentials): string {
  const text = Buffer.from(base64, "base64").toString("latin1");
  const end = /\n\r?\n/.exec(text)?.index ?? text.length;
  const shown = text
    .slice(0, end)
    .split("\n")
    .map((line, index) => headLineWithoutCredentials(line, index, found));
  const body = text
    .slice(end)
    .split("\n")
    .map((line) => descriptionLineWithoutCredentials(line, found));
  const bytes = found.hideInBytes(Buffer.from(body.join("\n"), "latin1"));
  return Buffer.concat([Buffer.from(shown.join("\n")), bytes]).toString("base64");
}

function headLineWithoutCredentials(whole: string, index: number, found: FoundCredentials): string {
  const [line, end] = splitLineEnd(whole);
  const colon = line.indexOf(":");
  if (index === 0 || colon < 0) {
    const words = line.split(" ");
    return words.map((word) => targetWithoutCredentials(word, found)).join(" ") + end;
  }
  const name = line.slice(0, colon);
  const [[, value = ""] = []] = fieldsWithoutCredentials([[name, line.slice(colon + 1).trim()]], found);
  return `${name}: ${value}${end}`;
}

const splitLineEnd = (line: string): readonly [line: string, end: string] => (line.endsWith("\r") ? [line.slice(0, -1), "\r"] : [line, ""]);

/** RFC 4566 §5.12, RFC 4567 and RFC 4568 §9.1: what is left of a line is a key, but for its method ("clear:", "mikey ") or suite. */
const keyLine = /^(?:k=[^:]*:|a=key-mgmt:[ ]?[^ ]* |a=crypto:[^ ]* [^ ]* )/i;
/** RFC 2326, C.1.1: the URI of a track or of all; others have theirs in `u=`. */
const uriLine = /^(?:a=[\w-]+:|[a-z]=)/i;

/** What takes the place of a secret is UTF-8. */
const latin1Of = (mark: string) => Buffer.from(mark).toString("latin1");

function descriptionLineWithoutCredentials(whole: string, found: FoundCredentials): string {
  const [line, end] = splitLineEnd(whole);
  const [method] = keyLine.exec(line) ?? [];
  if (method !== undefined) {
    found.add(line.slice(method.length));
    return method + latin1Of(hidden) + end;
  }
  if (!/^a=control:/i.test(line) && !line.includes("://")) return whole;
  const [before = ""] = uriLine.exec(line) ?? [];
  const words = line.slice(before.length).split(" ");
  const shown = words.map((word) => redactTarget(word, (value) => found.add(value)).replaceAll("…", latin1Of("…")));
  return before + shown.join(" ") + end;
}

/** Of the states that were written one after the other, the last one counts. */
function readSession({ row, detail, parts }: RecordedRow): RtspSession {
  const reader = new RecordReader(detail);
  let head: RtspSession["connection"] | undefined;
  let state: ReturnType<typeof readState> | undefined;
  while (!reader.atEnd) {
    switch (reader.u8()) {
      case sessionTag.head:
        head = readHead(reader, row.peer);
        break;
      case sessionTag.state:
        state = readState(reader);
        break;
      default:
        throw new RecordError("a piece of a session has an unknown tag");
    }
  }
  if (!head || !state) throw new RecordError("a session has no head");
  return { kind: "rtsp", id: row.id, at: row.at, ...state, ...(row.user !== undefined && { user: row.user }), connection: head, parts };
}

function readHead(reader: RecordReader, remote: string): RtspSession["connection"] {
  const connection = reader.connection(remote);
  const isTunnel = reader.u8() === 1;
  return { ...connection, ...(isTunnel && { isTunnel }) };
}

function readState(reader: RecordReader) {
  const session = reader.text();
  const role = rtspRoles[reader.u8()] ?? "none";
  const path = reader.text();
  const userAgent = reader.text();
  const startedMs = reader.milliseconds() ?? 0;
  const ended = reader.text();
  const totalMs = reader.milliseconds();
  const tracks: RtspSessionTrack[] = [];
  for (let left = reader.u8(); left > 0; left--) tracks.push(readTrack(reader));
  return {
    ...(session !== "" && { session }),
    role,
    path,
    userAgent,
    tracks,
    ...(startedMs > 0 && { startedMs }),
    ...(ended !== "" && { ended }),
    ...(totalMs !== undefined && { totalMs }),
  };
}

function readTrack(reader: RecordReader): RtspSessionTrack {
  const index = reader.u8();
  const codec = reader.text();
  const transport = reader.text();
  const [packets, bytes, dropped] = [reader.f64(), reader.f64(), reader.f64()];
  const [lost, lossFraction] = [reader.f64(), reader.f64()];
  const jitterMs = reader.milliseconds();
  return {
    index,
    codec,
    transport,
    packets,
    bytes,
    dropped,
    ...(!Number.isNaN(lost) && { lost }),
    ...(!Number.isNaN(lossFraction) && { lossFraction }),
    ...(jitterMs !== undefined && { jitterMs }),
  };
}
