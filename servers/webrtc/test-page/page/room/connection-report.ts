/** What the statistics of a connection say (W3C webrtc-stats), as far as it is shown. */
export interface CandidateText {
  /** "host", "srflx", "prflx" or "relay" */
  readonly type: string;
  /** "udp", "tcp"; of a relay how this end reaches it: "udp", "tcp", "tls". */
  readonly protocol: string;
  /** "192.168.1.5:50123"; a name that ends with .local hides an address. */
  readonly address: string;
  /** Where it was learnt: "turn:127.0.0.1:3478?transport=udp". */
  readonly url: string | undefined;
}

export interface CandidatePair {
  readonly id: string;
  readonly isUsed: boolean;
  /** "succeeded", "in-progress", "failed", "waiting", "frozen" */
  readonly state: string;
  readonly local: CandidateText;
  readonly remote: CandidateText;
  readonly rttMs: number | undefined;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

export interface ReceivedVideo {
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
  readonly framesDecoded: number;
  readonly packetsLost: number;
}

export interface ConnectionReport {
  /** The one in use first, then by state. */
  readonly pairs: readonly CandidatePair[];
  readonly sentBitRate: number;
  readonly receivedBitRate: number;
  readonly video: ReceivedVideo | undefined;
  /** Of this report, to be compared with the next one. */
  readonly totals: { readonly atMs: number; readonly sent: number; readonly received: number };
}

type Entry = Readonly<Record<string, string | number | boolean | undefined>>;

const unknownCandidate: CandidateText = { type: "unknown", protocol: "", address: "", url: undefined };
const stateOrder = ["succeeded", "in-progress", "waiting", "frozen", "failed"];

/** `before` is the report of a second or so ago: bit rates are counted from it. */
export function readReport(stats: RTCStatsReport, before: ConnectionReport | undefined): ConnectionReport {
  const entries = new Map<string, Entry>();
  for (const [id, entry] of stats as unknown as Iterable<[string, Entry]>) entries.set(id, entry);
  const all = [...entries.values()];
  const used = all.find(({ type, selectedCandidatePairId }) => type === "transport" && selectedCandidatePairId !== undefined);
  const pairs = all.filter(({ type }) => type === "candidate-pair").map((entry) => pairOf(entry, entries, used?.selectedCandidatePairId));
  pairs.sort((one, other) => Number(other.isUsed) - Number(one.isUsed) || stateOrder.indexOf(one.state) - stateOrder.indexOf(other.state));
  const totals = {
    atMs: performance.now(),
    sent: pairs.reduce((sum, { bytesSent }) => sum + bytesSent, 0),
    received: pairs.reduce((sum, { bytesReceived }) => sum + bytesReceived, 0),
  };
  const seconds = before ? (totals.atMs - before.totals.atMs) / 1_000 : 0;
  // A new pair begins at zero, and one that is gone takes its bytes with it.
  const rate = (now: number, then: number) => (seconds > 0 ? Math.max(0, ((now - then) * 8) / seconds) : 0);
  return {
    ...{ pairs, totals, video: videoOf(all, entries) },
    sentBitRate: rate(totals.sent, before?.totals.sent ?? 0),
    receivedBitRate: rate(totals.received, before?.totals.received ?? 0),
  };
}

const numberOf = (value: Entry[string]): number => (typeof value === "number" ? value : 0);
const textOf = (value: Entry[string]): string => (typeof value === "string" ? value : "");

function pairOf(entry: Entry, entries: ReadonlyMap<string, Entry>, usedId: Entry[string]): CandidatePair {
  const { currentRoundTripTime: rtt } = entry;
  return {
    id: textOf(entry.id),
    // Firefox marks the pair itself.
    isUsed: entry.id === usedId || entry.selected === true,
    state: textOf(entry.state),
    local: candidateOf(entries.get(textOf(entry.localCandidateId))),
    remote: candidateOf(entries.get(textOf(entry.remoteCandidateId))),
    rttMs: typeof rtt === "number" ? rtt * 1_000 : undefined,
    bytesSent: numberOf(entry.bytesSent),
    bytesReceived: numberOf(entry.bytesReceived),
  };
}

function candidateOf(entry: Entry | undefined): CandidateText {
  if (!entry) return unknownCandidate;
  const address = textOf(entry.address) || textOf(entry.ip);
  return {
    type: textOf(entry.candidateType),
    protocol: textOf(entry.relayProtocol) || textOf(entry.protocol),
    address: `${address === "" ? "hidden" : address.includes(":") ? `[${address}]` : address}:${numberOf(entry.port)}`,
    url: textOf(entry.url) || undefined,
  };
}

function videoOf(all: readonly Entry[], entries: ReadonlyMap<string, Entry>): ReceivedVideo | undefined {
  const inbound = all.find(({ type, kind }) => type === "inbound-rtp" && kind === "video");
  if (!inbound) return undefined;
  return {
    codec: textOf(entries.get(textOf(inbound.codecId))?.mimeType).replace(/^video\//, ""),
    width: numberOf(inbound.frameWidth),
    height: numberOf(inbound.frameHeight),
    framesPerSecond: numberOf(inbound.framesPerSecond),
    framesDecoded: numberOf(inbound.framesDecoded),
    packetsLost: numberOf(inbound.packetsLost),
  };
}
