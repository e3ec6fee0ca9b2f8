/** Of one peer, of the last second. */
export interface CallFigures {
  /** "relay udp 127.0.0.1:50112 ↔ relay 127.0.0.1:50113" */
  readonly pair: string;
  readonly roundTripMs?: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly frameRate: number;
  readonly pictures: number;
}

/** Of the reading before. */
export interface LastFrames {
  atMs: number;
  frames: number;
}

type Stats = Readonly<Record<string, unknown>>;

/** What a connection passes now, and by which pair; without `last` the rate of pictures is not counted. */
export async function readFigures(connection: RTCPeerConnection, last: LastFrames | undefined): Promise<CallFigures> {
  const stats = [...(await connection.getStats()).values()] as readonly Stats[];
  const byId = (id: unknown) => stats.find((one) => one.id === id);
  const transport = stats.find(({ type }) => type === "transport");
  const pair =
    byId(transport?.selectedCandidatePairId) ?? stats.find(({ type, nominated }) => type === "candidate-pair" && nominated === true);
  const inbound = stats.find(({ type, kind }) => type === "inbound-rtp" && kind === "video");
  const frames = Number(inbound?.framesDecoded ?? 0);
  const nowMs = performance.now();
  const frameRate = !last || last.atMs === 0 ? 0 : ((frames - last.frames) * 1_000) / Math.max(1, nowMs - last.atMs);
  if (last) Object.assign(last, { atMs: nowMs, frames });
  const roundTrip = pair?.currentRoundTripTime;
  return {
    pair: pairText(byId(pair?.localCandidateId), byId(pair?.remoteCandidateId)),
    ...(typeof roundTrip === "number" && { roundTripMs: roundTrip * 1_000 }),
    bytesSent: Number(pair?.bytesSent ?? 0),
    bytesReceived: Number(pair?.bytesReceived ?? 0),
    frameRate,
    pictures: frames,
  };
}

function pairText(local: Stats | undefined, remote: Stats | undefined): string {
  if (!local || !remote) return "an unknown pair";
  const own = [local.candidateType, local.candidateType === "relay" ? local.relayProtocol : local.protocol].filter(Boolean).join(" over ");
  return `${own} ${addressOf(local)} to ${String(remote.candidateType)} ${addressOf(remote)}`;
}

const addressOf = (candidate: Stats): string => `${String(candidate.address ?? candidate.ip ?? "")}:${String(candidate.port ?? "")}`;
