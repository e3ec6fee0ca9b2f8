import {
  type IceCandidate,
  type MediaCodec,
  type MediaSection,
  type SessionDescription,
  transportOf,
} from "../../../../../contract/services/webrtc-description.ts";

export type Change = "same" | "added" | "removed" | "changed";

/** A value as it is, and as it was in the other description. */
export interface ComparedText {
  readonly change: Change;
  readonly text: string;
  /** Of a value that was changed or removed. */
  readonly before?: string;
}

export interface ComparedItem<Item> {
  readonly change: Exclude<Change, "changed">;
  readonly item: Item;
}

export interface ComparedSection {
  /** Of a section that only one of them has. */
  readonly change: Exclude<Change, "changed">;
  readonly index: number;
  readonly mid: string;
  readonly kind: string;
  readonly isRejected: boolean;
  /** Name and value, such as "Direction", in the order in which they are shown; without those that neither has. */
  readonly facts: readonly { readonly name: string; readonly value: ComparedText }[];
  readonly codecs: readonly ComparedItem<MediaCodec>[];
  readonly candidates: readonly ComparedItem<IceCandidate>[];
  /** The attributes that are not shown in another way. */
  readonly others: readonly ComparedItem<string>[];
}

export interface ComparedDescription {
  readonly session: readonly { readonly name: string; readonly value: ComparedText }[];
  readonly sections: readonly ComparedSection[];
  /** Differences of all sorts. */
  readonly changes: number;
}

/** Attributes with a place of their own. */
const shownElsewhere: ReadonlySet<string> = new Set([
  ...["mid", "rtpmap", "fmtp", "candidate", "end-of-candidates", "fingerprint", "setup", "ice-ufrag", "ice-pwd", "ice-options"],
  ...["sendrecv", "sendonly", "recvonly", "inactive", "group", "msid-semantic"],
]);

/** A description by itself, or beside the one before it, or the offer that it answers. */
export function compareDescriptions(after: SessionDescription, before?: SessionDescription): ComparedDescription {
  const session = factList([
    ["Origin", after.origin, before?.origin],
    ["Bundle", after.groups.join(", "), before?.groups.join(", ")],
    ["ICE options", attributeText(after.attributes, "ice-options"), before && attributeText(before.attributes, "ice-options")],
  ]);
  const places = Math.max(after.media.length, before?.media.length ?? 0);
  const sections = Array.from({ length: places }, (_, index) => compareSections(after, before, index));
  const differences = sections.flatMap(({ change, facts, codecs, candidates, others }) => [
    change,
    ...[...facts.map(({ value }) => value), ...codecs, ...candidates, ...others].map((one) => one.change),
  ]);
  return { session, sections, changes: differences.filter((change) => change !== "same").length };
}

/** Sections are paired by their place (RFC 3264 §6): an answer has those of the offer in its order. */
function compareSections(after: SessionDescription, before: SessionDescription | undefined, index: number): ComparedSection {
  const now = after.media[index];
  const then = before?.media[index];
  const section = (now ?? then) as MediaSection;
  const [transport, former] = [now && transportOf(after, now), then && before && transportOf(before, then)];
  const ofFormer = <Value>(value: Value | undefined) => (before ? (value ?? "") : undefined);
  return {
    change: !before || (now && then) ? "same" : now ? "added" : "removed",
    index,
    mid: section.mid,
    kind: section.kind,
    isRejected: now?.port === 0 && !isBundledOnly(now),
    facts: factList([
      ["Direction", now?.direction ?? "", ofFormer(then?.direction)],
      ["Setup", transport?.setup ?? "", ofFormer(former?.setup)],
      ["ICE", transport?.ufrag ?? "", ofFormer(former?.ufrag)],
      ["Fingerprint", transport?.fingerprints.join(", ") ?? "", ofFormer(former?.fingerprints.join(", "))],
      ["Protocol", now?.protocol ?? "", ofFormer(then?.protocol)],
    ]),
    codecs: compareItems(now?.codecs ?? [], before && (then?.codecs ?? []), codecKey),
    candidates: compareItems(now?.candidates ?? [], before && (then?.candidates ?? []), candidateKey),
    others: compareItems(otherAttributes(now), before && otherAttributes(then), (text) => text),
  };
}

const isBundledOnly = ({ attributes }: MediaSection): boolean => attributes.some(({ name }) => name === "bundle-only");

const otherAttributes = (section: MediaSection | undefined): readonly string[] =>
  (section?.attributes ?? [])
    .filter(({ name }) => !shownElsewhere.has(name))
    .map(({ name, value }) => (value === "" ? name : `${name}:${value}`));

const attributeText = (attributes: SessionDescription["attributes"], wanted: string): string =>
  attributes.find(({ name }) => name === wanted)?.value ?? "";

function factList(facts: readonly (readonly [name: string, now: string, before: string | undefined])[]) {
  return facts
    .filter(([, now, before]) => now !== "" || (before ?? "") !== "")
    .map(([name, now, before]) => ({ name, value: compareText(now, before) }));
}

function compareText(text: string, before: string | undefined): ComparedText {
  if (before === undefined || before === text) return { change: "same", text };
  if (before === "") return { change: "added", text };
  return text === "" ? { change: "removed", text: "", before } : { change: "changed", text, before };
}

/** The newer ones in their order, those that are gone behind them. Without `before` all are the same. */
function compareItems<Item>(
  after: readonly Item[],
  before: readonly Item[] | undefined,
  keyOf: (item: Item) => string,
): readonly ComparedItem<Item>[] {
  if (!before) return after.map((item) => ({ change: "same", item }));
  const former = new Set(before.map(keyOf));
  const now = new Set(after.map(keyOf));
  return [
    ...after.map((item): ComparedItem<Item> => ({ change: former.has(keyOf(item)) ? "same" : "added", item })),
    ...before.filter((item) => !now.has(keyOf(item))).map((item): ComparedItem<Item> => ({ change: "removed", item })),
  ];
}

/** Payload types of offer and answer may differ for one codec (RFC 3264 §5.1). */
const codecKey = ({ name, payloadType, parameters = "" }: MediaCodec): string => `${name || payloadType} ${parameters}`;

const candidateKey = ({ type, transport, address, port, component }: IceCandidate): string =>
  `${type} ${transport} ${address} ${port} ${component}`;
