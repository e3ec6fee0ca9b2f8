/** Which rows a filter lets through: the supervisor and the dashboard's lists decide alike. */
import { z } from "zod";
import { decodedWhereEncoded } from "../percent-decoded.ts";
import type { ServiceId } from "../service.ts";
import { shownReason } from "./refusal-words.ts";
import type { Tone, TrafficRow } from "./row.ts";
import { addedWebrtcWords, webrtcWords } from "./webrtc-words.ts";

/** `all` is no filter; `ended` is for sessions, which end with or without a goodbye; `unsuccessful` is refused or failed. */
export const toneFilters = ["all", "open", "ended", "ok", "neutral", "refused", "failed", "unsuccessful"] as const;
export type ToneFilter = (typeof toneFilters)[number];

/** Fields of calls that filter rows. */
export const rowFilterFields = {
  text: z.string().max(500).default(""),
  /** The text is also searched in what a row has recorded beside its own texts: header fields, bodies and messages. */
  inDetails: z.boolean().default(false),
  tone: z.enum(toneFilters).default("all"),
  /** A target, or the start of targets that ends in "/"; empty for all. */
  target: z.string().max(2_000).default(""),
  /** Empty for all. */
  outcome: z.string().max(200).default(""),
  /** A kind of detail; empty for all. */
  ofKind: z.string().max(50).default(""),
  /** Leaves sample traffic out. */
  withoutSample: z.boolean().default(false),
};

const tonesOf: Readonly<Record<ToneFilter, readonly Tone[] | undefined>> = {
  all: undefined,
  open: ["pending"],
  ended: ["ok", "neutral"],
  ok: ["ok"],
  neutral: ["neutral"],
  refused: ["refused"],
  failed: ["failed", "aborted"],
  unsuccessful: ["refused", "failed", "aborted"],
};

export const hasTone = (tone: Tone, filter: ToneFilter): boolean => tonesOf[filter]?.includes(tone) ?? true;

export const hasTarget = (target: string, filter: string): boolean =>
  filter === "" || target === filter || (filter.endsWith("/") && target.startsWith(filter));

export const hasKind = (kind: string, filter: string): boolean => filter === "" || kind === filter;

export const hasOutcome = (outcome: string, filter: string): boolean => filter === "" || outcome === filter;

/** As it is compared: trimmed, in lower case. */
export const searchNeedle = (text: string): string => text.trim().toLowerCase();

/** The status of an HTTP exchange as lists show it: the code, or a word for an exchange without one. */
export function statusWord({ tone, kind, outcome }: Pick<TrafficRow, "tone" | "kind" | "outcome">): string {
  switch (tone) {
    case "pending":
      // A response in progress: a stream, or a WebSocket.
      return kind === "http" && outcome === "" ? "pending" : "open";
    case "aborted":
      return "aborted";
    default:
      return /^\d{3}(?=, )/.exec(outcome)?.[0] ?? outcome;
  }
}

/** How long a row took, in ms, and of an open one how long it is open `now`, as lists show it. */
export const tookSoFar = ({ tone, at, tookMs }: Pick<TrafficRow, "tone" | "at" | "tookMs">, now: number): number | undefined =>
  tookMs ?? (tone === "pending" ? Math.max(0, now - at) : undefined);

/** All words that lists may show for a row of a service besides those of its texts, in lower case. */
export const possibleWords = (service: ServiceId, tone: Tone): string =>
  `${possibleStatusWords(tone)} ${service === "webrtc" ? webrtcAdded : ""}`;
const webrtcAdded = addedWebrtcWords.toLowerCase();

function possibleStatusWords(tone: Tone): string {
  if (tone === "pending") return "pending open";
  return tone === "aborted" ? "aborted" : "";
}

/** The words that lists show for a row besides those of its texts. */
function addedWords(row: TrafficRow): string {
  const status = isHttp(row) ? statusWord(row) : row.tone === "pending" ? possibleStatusWords("pending") : "";
  return row.service === "webrtc" ? `${status}\n${webrtcWords(row)}` : status;
}

const isHttp = ({ kind }: Pick<TrafficRow, "kind">) => kind === "http" || kind === "websocket";

/** Why it was refused: as it is recorded, and as a list shows it. */
export function reasonTexts({ service, reason }: Pick<TrafficRow, "service" | "reason">): string {
  if (reason === undefined) return "";
  const shown = shownReason({ service, reason });
  return shown === reason ? reason : `${reason}\n${shown}`;
}

/** The texts of a target are those of a URL, but for the topics of MQTT. */
export const mayBeEncoded = ({ service }: Pick<TrafficRow, "service">): boolean => service !== "mqtt";

/** Decodes only where there is something to decode. */
const hasDecoded = (row: Pick<TrafficRow, "service" | "target">, before: string, needle: string): boolean =>
  row.target.includes("%") && mayBeEncoded(row) && `${before}${decodedWhereEncoded(row.target)}`.toLowerCase().includes(needle);

/** As it was sent, or as its sender typed it. */
export const hasInTarget = (row: Pick<TrafficRow, "service" | "target">, needle: string): boolean =>
  row.target.toLowerCase().includes(needle) || hasDecoded(row, "", needle);

/** Whether the texts of a row, as lists show them, contain a needle; adjacent fields are joined by a space. */
export const hasText = (row: TrafficRow, needle: string): boolean =>
  `${row.verb} ${row.target}\n${row.outcome}\n${addedWords(row)}\n${row.client} ${row.peer}\n${row.user ?? ""} ${row.peerName ?? ""} ${reasonTexts(row)}\n${row.preview}`
    .toLowerCase()
    .includes(needle) || hasDecoded(row, `${row.verb} `, needle);
