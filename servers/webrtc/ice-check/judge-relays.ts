import type { IceFinding, IceFindingCode, IceVerdict } from "../../../contract/services/webrtc-ice-check.ts";
import { areJoined, leadsTo, pathsBetween, permits } from "./candidate-paths.ts";
import type { IceSide, SeenRelay } from "./ice-side.ts";

export type FindingParts = Omit<IceFinding, "code" | "advice" | "peer"> & { readonly side?: IceSide; readonly advice?: string };

/** An answer, a candidate or a check that has not come after this time will usually not come. */
export const patienceMs = 10_000;

/** A pair in use is checked every 4 to 6 s (RFC 7675 §5.1). A relay that nothing has passed for longer is not in use. */
const quietMs = 15_000;

/** RFC 7675 §5.1 */
const consentMs = 30_000;

/** What passes the relays of two sides, and what keeps data from passing them. */
export class RelayJudge {
  readonly #sides: readonly [IceSide, IceSide];
  readonly #now: number;
  /** Whose relay is of no use yet beside a direct way. */
  readonly #unused: IceSide[] = [];
  readonly #report: (code: IceFindingCode, parts: FindingParts) => void;
  #hasCause = false;

  constructor(sides: readonly [IceSide, IceSide], now: number, report: (code: IceFindingCode, parts: FindingParts) => void) {
    this.#sides = sides;
    this.#now = now;
    this.#report = report;
  }

  #add(code: IceFindingCode, parts: FindingParts): void {
    this.#hasCause ||= parts.tone === "bad";
    this.#report(code, parts);
  }

  #otherOf(side: IceSide): IceSide {
    return side === this.#sides[0] ? this.#sides[1] : this.#sides[0];
  }

  /** Data that lately passed a relay in both directions. What passed before proves nothing. */
  findPassing(): boolean {
    for (const side of this.#sides) {
      const other = this.#otherOf(side);
      const relay = side.relays.find((one) => this.#isPassing(one) && leadsTo(one, other));
      if (!relay) continue;
      const ofOther = other.relays.find((one) => one.closed === undefined && areJoined(one, relay));
      if (ofOther && passesNothing(ofOther)) continue;
      this.#add("relayed", {
        tone: "ok",
        text: ofOther
          ? `Connected by two relays: ${side.name} at ${relay.relayed} over ${relay.transport.toUpperCase()}, ${other.name} at ${ofOther.relayed} over ${ofOther.transport.toUpperCase()}. Data passes in both directions.`
          : `Connected by the relay of ${side.name} at ${relay.relayed}, over ${relay.transport.toUpperCase()}. Data passes in both directions.`,
      });
      this.#judgeImpairment(side, relay, "warn");
      if (ofOther) this.#judgeImpairment(other, ofOther, "warn");
      return true;
    }
    return false;
  }

  #isPassing(relay: SeenRelay): boolean {
    const isLate = Math.min(relay.lastToPeersAt, relay.lastFromPeersAt) < this.#now - quietMs;
    return relay.closed === undefined && relay.toPeers > 0 && relay.fromPeers > 0 && !isLate && !passesNothing(relay);
  }

  #judgeImpairment(side: IceSide, relay: SeenRelay, tone: "warn" | "bad"): void {
    const { loss, delayMs } = relay.impairment;
    const does = [
      ...(passesNothing(relay)
        ? ["passes nothing: it is cut"]
        : loss > 0
          ? [`loses ${Math.round(loss * 1_000) / 10} % of its datagrams`]
          : []),
      ...(delayMs > 0 && !passesNothing(relay) ? [`delays its datagrams by ${delayMs} ms`] : []),
    ];
    if (does.length === 0) return;
    this.#add("relay-impaired", {
      tone,
      side,
      text: `The relay of ${side.name}, ${relay.relayed}, ${does.join(" and ")} on request.`,
      advice: "End its faults.",
    });
  }

  /** There is a relay: what keeps data from passing it. Undefined where a direct way may be used instead, or the other side has no candidate yet. */
  judge(relaySides: readonly IceSide[]): IceVerdict | undefined {
    let waits = false;
    const { direct, natted, mdns } = pathsBetween(...this.#sides);
    const hasDirect = direct !== undefined || natted !== undefined || mdns;
    // What was refused before the offer of this use of ICE was for another call.
    const since = Math.min(...this.#sides.map(({ iceSince }) => iceSince));
    let hasSilent = false;
    for (const side of relaySides) {
      const other = this.#otherOf(side);
      const open = side.relays.filter(({ closed }) => closed === undefined);
      const rankOf = (relay: SeenRelay) => (leadsTo(relay, other) ? 1 + Math.max(relay.lastToPeersAt, relay.lastFromPeersAt) : 0);
      const ranked = open.map((relay) => ({ relay, rank: rankOf(relay) }));
      const last = ranked.toSorted((a, b) => b.rank - a.rank)[0]?.relay ?? side.relays.at(-1);
      const refused = side.requests.find(
        ({ method, code, lastAt }) => (method === "create permission" || method === "channel bind") && code === 403 && lastAt >= since,
      );
      const isLate = this.#now - Math.max(side.lastAt, other.lastAt) > patienceMs;
      if (!last) {
        this.#add("no-relay", { tone: "note", side, text: `${side.name} offers a relay that is not of this service.` });
        waits = true;
        continue;
      }
      if (last.closed !== undefined) {
        // A browser closes what it does not use.
        const tone = hasDirect ? "note" : "bad";
        this.#add("relay-closed", { tone, side, text: `The relay of ${side.name}, ${last.relayed}, was closed: ${last.closed}.` });
        continue;
      }
      if (!this.#isPassing(last)) this.#judgeImpairment(side, last, "bad");
      if (passesNothing(last)) continue;
      if (!leadsTo(last, other) && refused) {
        this.#add("peer-not-allowed", {
          tone: hasDirect ? "note" : "bad",
          side,
          text: `${side.name}: a permission for an address of ${other.name} was refused with 403: it is not among the allowed peers.`,
          advice: "Relays reach loopback only, unless Config allows more peers. Or let both sides use a relay.",
        });
      } else if (!leadsTo(last, other) && hasDirect) {
        if (isLate) this.#unused.push(side);
      } else if (!leadsTo(last, other) && other.candidates.length === 0) {
        hasSilent = true;
      } else if (!leadsTo(last, other)) {
        this.#add("no-permission", {
          tone: isLate ? "bad" : "wait",
          side,
          text: permits(last, other)
            ? `${side.name} has a relay, but its channels lead to others than ${other.name}.`
            : `${side.name} has a relay, but has not asked for a permission for any address of ${other.name}.`,
          advice: isLate ? `It did not get the candidates of ${other.name}, or did not pass them to addIceCandidate.` : "",
        });
        waits ||= !isLate;
      } else if (last.fromPeers === 0) {
        this.#add("relay-one-way", {
          tone: isLate ? "bad" : "wait",
          side,
          text: `${side.name} sends to ${other.name} through its relay (${last.toPeers} datagrams), and nothing comes back.`,
          advice: isLate
            ? `${other.name} must also have a way to the relay ${last.relayed}: a permission of its own relay, or a route of its own.`
            : "",
        });
        waits ||= !isLate;
      } else if (last.toPeers === 0) {
        this.#add("relay-one-way", {
          tone: isLate ? "bad" : "wait",
          side,
          text: `${other.name} sends to the relay of ${side.name} (${last.fromPeers} datagrams), and ${side.name} sends nothing through it.`,
        });
        waits ||= !isLate;
      } else waits = this.#judgeSilence(side, last, hasDirect) || waits;
    }
    if (hasDirect || (hasSilent && !this.#hasCause)) return undefined;
    return this.#hasCause || !waits ? "failed" : "waiting";
  }

  /** To be said behind the direct way: browsers ask for no permission for names of multicast DNS, and need none where they connect directly. */
  noteUnused(): void {
    for (const side of this.#unused) {
      const other = this.#otherOf(side);
      this.#add("no-permission", {
        tone: "note",
        side,
        text: `${side.name} does not use its relay for ${other.name}: it has not asked for a permission for an address of it.`,
        advice: "Both may use a direct way, which does not pass here.",
      });
    }
  }

  /** Of a relay that data has passed in both directions. False where it has been silent for so long that nothing more will come. */
  #judgeSilence(side: IceSide, relay: SeenRelay, hasDirect: boolean): boolean {
    const [toMs, fromMs] = [this.#now - relay.lastToPeersAt, this.#now - relay.lastFromPeersAt];
    const isBoth = Math.min(toMs, fromMs) > quietMs;
    const silentMs = isBoth ? Math.min(toMs, fromMs) : Math.max(toMs, fromMs);
    if (silentMs <= quietMs) return true;
    const seconds = Math.round(silentMs / 1_000);
    const what = isBoth
      ? `Nothing has passed the relay of ${side.name}, ${relay.relayed}, for ${seconds} s`
      : fromMs > quietMs
        ? `Nothing from ${this.#otherOf(side).name} has come to the relay of ${side.name}, ${relay.relayed}, for ${seconds} s`
        : `${side.name} has sent nothing through its relay, ${relay.relayed}, for ${seconds} s`;
    const isRefreshed = relay.lastRequestAt > this.#now - silentMs;
    const still = isRefreshed ? "while its client still refreshes it" : "while it is still open";
    const elsewhere = hasDirect ? " Or both now use a direct way, which does not pass here." : "";
    const hasExpired = silentMs > consentMs;
    this.#add(hasExpired ? "consent-expired" : "relay-quiet", {
      tone: hasDirect ? "note" : hasExpired ? "bad" : "wait",
      side,
      text: hasExpired ? `${what}, ${still}: consent has probably expired.` : `${what}.`,
      advice: hasExpired
        ? `A side stops sending when its checks get no answer for 30 s (RFC 7675). Look whether a page was closed or suspended, or has lost its network; restart ICE (restartIce) to connect again.${elsewhere}`
        : `Checks pass every few seconds while two peers are connected. Consent expires after 30 s without an answer (RFC 7675).${elsewhere}`,
    });
    return !hasExpired;
  }
}

/** Cut on request, or loses all. */
const passesNothing = ({ impairment: { isCut, loss } }: SeenRelay): boolean => isCut || loss >= 1;
