import type {
  IceCheck,
  IceFinding,
  IceRelayFacts,
  IceRequestCount,
  IceSideFacts,
} from "../../../../../contract/services/webrtc-ice-check.ts";
import { formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";

/** What is found of both sides alike is said once: "Ada and Bob: only host candidates of different networks and no relay offered." */
export function joinedFindings({ findings, sides }: Pick<IceCheck, "findings" | "sides">): readonly IceFinding[] {
  const joined: { finding: IceFinding; readonly name: string; readonly said: string | undefined }[] = [];
  for (const finding of findings) {
    const name = sides.find(({ peer }) => peer === finding.peer)?.name ?? "";
    const said = name !== "" && finding.text.startsWith(`${name}: `) ? finding.text.slice(name.length + 2) : undefined;
    const { code, tone, advice } = finding;
    const twin = joined.find(
      (one) =>
        said !== undefined && one.said === said && one.finding.code === code && one.finding.tone === tone && one.finding.advice === advice,
    );
    if (twin) twin.finding = { code, tone, advice, text: `${twin.name} and ${name}: ${said}` };
    else joined.push({ finding, name, said });
  }
  return joined.map(({ finding }) => finding);
}

const typeNames = { host: "host", mdns: "mDNS", srflx: "reflexive", prflx: "peer reflexive", relay: "relay" } as const;

export function candidatesText({ candidates, isGathered }: IceSideFacts): string {
  const counts = (Object.keys(typeNames) as (keyof typeof typeNames)[]).filter((type) => candidates[type] > 0);
  const text = counts.length === 0 ? "none" : counts.map((type) => `${formatCount(candidates[type])} ${typeNames[type]}`).join(", ");
  return isGathered ? `${text}; no more` : text;
}

/** Above the codes of RFC 8489: a first request without credentials, which is told what it needs. */
const unauthenticated = 1_401;

export function requestsText(requests: readonly IceRequestCount[]): string {
  if (requests.length === 0) return "no request came";
  return (
    requests
      .filter(({ code }) => code !== unauthenticated)
      .map(({ method, transport, code, count }) =>
        `${method} over ${transport.toUpperCase()} ${code === 0 ? "" : `refused with ${code}`}${count > 1 ? ` ×${formatCount(count)}` : ""}`
          .replace(/ +/g, " ")
          .trim(),
      )
      .join(", ") || "asked without credentials only"
  );
}

const relayText = ({ relayed, transport, closed, permissionCount, toPeers, fromPeers }: IceRelayFacts): string =>
  shownText(
    `${relayed} over ${transport.toUpperCase()}, ${formatCountOf(permissionCount, "permission")}, ${formatCountOf(toPeers, "datagram")} to peers, ${formatCount(fromPeers)} from peers${closed === undefined ? "" : `, closed: ${closed}`}`,
  );

export function relaysText({ relays, relaysLeftOut = 0 }: Pick<IceSideFacts, "relays" | "relaysLeftOut">): string {
  const more = relaysLeftOut > 0 ? [`and ${formatCount(relaysLeftOut)} more that are not listed`] : [];
  return [...relays.map(relayText), ...more].join("; ") || "none";
}
