import { type MediaSection, type SessionDescription, transportOf } from "../../../contract/services/webrtc-description.ts";
import type { IceCheck, IceFinding, IceFindingCode, IceVerdict } from "../../../contract/services/webrtc-ice-check.ts";
import { allocateAdvice, allocateFindings, allocateWords, staleNonce, unauthenticated } from "./allocation-refusals.ts";
import { type Paths, pathsBetween } from "./candidate-paths.ts";
import { factsOfSide, type IceSide, type PeerEvidence, readSide, type SeenDescription } from "./ice-side.ts";
import { type FindingParts, patienceMs, RelayJudge } from "./judge-relays.ts";
import { isMdnsName } from "./networks.ts";

/** For the texts: where clients are to send STUN and TURN. */
export interface IceAddresses {
  /** 3478 */
  readonly port: number;
  /** 5349; undefined without TLS. */
  readonly tlsPort: number | undefined;
}

/** Explains the connection of two peers from what the service saw of them until `now`, in milliseconds since the epoch. In steps. */
export function* judgeConnection(
  evidence: readonly [PeerEvidence, PeerEvidence],
  addresses: IceAddresses,
  now: number,
): Generator<void, IceCheck> {
  const one = yield* readSide(evidence[0]);
  const other = yield* readSide(evidence[1]);
  const judge = new Judge(one, other, addresses, now);
  const verdict = judge.verdict();
  return { verdict, findings: judge.findings, sides: [factsOfSide(one), factsOfSide(other)] };
}

class Judge {
  readonly findings: IceFinding[] = [];
  readonly #sides: readonly [IceSide, IceSide];
  readonly #addresses: IceAddresses;
  readonly #now: number;
  readonly #relays: RelayJudge;

  constructor(one: IceSide, other: IceSide, addresses: IceAddresses, now: number) {
    this.#sides = [one, other];
    this.#addresses = addresses;
    this.#now = now;
    this.#relays = new RelayJudge([one, other], now, (code, parts) => this.#add(code, parts));
  }

  /** Finds what prevents the connection first, in the order in which it comes about: descriptions, candidates, relays. */
  verdict(): IceVerdict {
    const relayed = this.#relays.findPassing();
    if (relayed) {
      this.#findDetails();
      return "connected";
    }
    const verdict = this.#judgeDescriptions() ?? this.#judgeCandidates();
    this.#findDetails();
    return verdict;
  }

  #add(code: IceFindingCode, { side, advice = "", ...parts }: FindingParts): void {
    this.findings.push({ code, advice, ...parts, ...(side && { peer: side.peer }) });
  }

  #seconds(since: number): string {
    return `${Math.max(0, Math.round((this.#now - since) / 1_000))} s`;
  }

  /** Undefined where offer and answer are in order. */
  #judgeDescriptions(): IceVerdict | undefined {
    const offers = this.#sides.flatMap((side) =>
      side.descriptions.filter(({ type }) => type === "offer").map((offer) => ({ ...offer, side, peer: this.#otherOf(side) })),
    );
    const last = offers.sort((a, b) => a.at - b.at).at(-1);
    if (!last) {
      const isStray = this.#sides.some(({ descriptions }) => descriptions.length > 0);
      this.#add("no-offer", {
        tone: "wait",
        text: isStray ? "There is an answer, but no offer that it is for." : "Neither side has sent an offer to the other.",
        advice:
          "One side has to call createOffer and setLocalDescription, and send what comes of it. Usually it is the one that joins last.",
      });
      return "waiting";
    }
    const { side: offerer, peer: answerer } = last;
    const answer = answerer.descriptions.findLast(({ type, at }) => type === "answer" && at >= last.at);
    const crossing = offers.find(
      ({ side, at }) => side === answerer && at < last.at && !offerer.descriptions.some((one) => one.type === "answer" && one.at >= at),
    );
    if (crossing) {
      this.#add("glare", {
        tone: answer ? "note" : "bad",
        text: `Both sent an offer before either had answered (glare): ${answerer.name} first, ${offerer.name} ${last.at - crossing.at} ms later.`,
        advice: answer
          ? ""
          : "Let one side be polite: it takes back its own offer (setLocalDescription with type rollback) and answers. Perfect negotiation does that.",
      });
      if (!answer) return "failed";
    }
    if (last.lost !== undefined) {
      this.#add("offer-lost", {
        tone: "bad",
        side: offerer,
        text: `The offer of ${offerer.name} did not reach ${answerer.name}: ${last.lost}.`,
      });
      return "failed";
    }
    if (answer === undefined || answer.lost !== undefined) return this.#judgeMissingAnswer(offerer, answerer, last, answer);
    return this.#judgeContents(offerer, last.sdp) ?? this.#judgeContents(answerer, answer.sdp) ?? this.#judgeAnswer(answerer, answer.sdp);
  }

  #judgeMissingAnswer(offerer: IceSide, answerer: IceSide, offer: SeenDescription, answer: SeenDescription | undefined): IceVerdict {
    if (answer?.lost !== undefined) {
      this.#add("no-answer", {
        tone: "bad",
        side: answerer,
        text: `The answer of ${answerer.name} did not reach ${offerer.name}: ${answer.lost}.`,
      });
      return "failed";
    }
    if (!answerer.isHere) {
      this.#add("left", { tone: "bad", side: answerer, text: `${answerer.name} left before it answered.` });
      return "failed";
    }
    const isLate = this.#now - offer.at > patienceMs;
    this.#add("no-answer", {
      tone: isLate ? "bad" : "wait",
      side: answerer,
      text: `${answerer.name} got the offer ${this.#seconds(offer.at)} ago and has not answered.`,
      advice: isLate
        ? "Look at its console: setRemoteDescription and createAnswer fail for what it cannot use. Has it a handler for offers, and does it send the answer to the peer in from?"
        : "",
    });
    return isLate ? "failed" : "waiting";
  }

  #judgeContents(side: IceSide, sdp: SessionDescription | undefined): IceVerdict | undefined {
    const facts = sdp && transportOf(sdp, sdp.media[0]);
    const lacks = !sdp
      ? "does not begin with v=0"
      : sdp.media.length === 0
        ? "has no media and no data"
        : facts?.ufrag === ""
          ? "has no ice-ufrag"
          : facts?.fingerprints.length === 0
            ? "has no fingerprint"
            : undefined;
    if (lacks === undefined) return undefined;
    this.#add("unusable-description", {
      tone: "bad",
      side,
      text: `The description of ${side.name} ${lacks}, so no browser takes it.`,
      advice: "Send the sdp of localDescription unchanged.",
    });
    return "failed";
  }

  /** RFC 8842 §5.3: an answer chooses its part in the handshake. RFC 3264 §6: a port of 0 rejects a section. */
  #judgeAnswer(answerer: IceSide, sdp: SessionDescription | undefined): IceVerdict | undefined {
    if (sdp?.media.some((section) => section.port !== 0 && transportOf(sdp, section).setup === "actpass")) {
      this.#add("unusable-description", {
        tone: "bad",
        side: answerer,
        text: `The answer of ${answerer.name} has setup:actpass, which only an offer may have.`,
        advice: "Send what createAnswer gives, not the offer again.",
      });
      return "failed";
    }
    const isRejected = ({ port, attributes }: MediaSection) => port === 0 && !attributes.some(({ name }) => name === "bundle-only");
    if (!sdp?.media.every(isRejected)) return undefined;
    this.#add("all-rejected", {
      tone: "bad",
      side: answerer,
      text: `The answer of ${answerer.name} rejects every section of the offer (port 0): they have no codec in common.`,
      advice: "Compare the codecs of offer and answer.",
    });
    return "failed";
  }

  #judgeCandidates(): IceVerdict {
    const [one, other] = this.#sides;
    const paths = pathsBetween(one, other);
    const withRelays = paths.relays.length > 0 ? this.#relays.judge(paths.relays) : undefined;
    if (withRelays) return withRelays;
    const verdict = this.#directOr(paths);
    this.#relays.noteUnused();
    return verdict;
  }

  #directOr({ direct, mdns, natted }: Paths): IceVerdict {
    const [one, other] = this.#sides;
    if (direct || natted) {
      const pair = direct ?? natted;
      this.#add("direct-possible", {
        tone: "note",
        text: direct
          ? `Both have an address on one network, such as ${pair?.[0].address} and ${pair?.[1].address}: they can connect directly.`
          : `Both know their address in front of the router (${pair?.[0].address} and ${pair?.[1].address}): most routers let them connect.`,
        advice: `What passes between them directly does not pass here. If they do not connect, use the ICE servers of the welcome with iceTransportPolicy "relay" to compare.`,
      });
      return "direct";
    }
    if (mdns) {
      this.#add("mdns-only", {
        tone: "note",
        text: "Both hide their addresses behind names of multicast DNS, which work on one network only.",
        advice:
          "They connect if both are on this network and it passes multicast. Otherwise give the clients the ICE servers of the welcome.",
      });
      return "direct";
    }
    const isYoung = this.#now - Math.max(one.lastAt, other.lastAt) < patienceMs && !(one.isGathered && other.isGathered);
    for (const side of this.#sides) this.#judgeLack(side, isYoung);
    return isYoung && this.findings.every(({ tone }) => tone !== "bad") ? "waiting" : "failed";
  }

  /** Why a side offers nothing that the other can reach. */
  #judgeLack(side: IceSide, isYoung: boolean): void {
    const types = new Set(side.candidates.map((candidate) => (isMdnsName(candidate.address) ? "mdns" : candidate.type)));
    if (types.has("relay")) return;
    const words = types.has("srflx") ? "Reflexive but no relay" : "No relay";
    if (this.#judgeAllocations(side, words)) return;
    const isFinal = !isYoung || side.isGathered;
    if (isFinal && this.#judgeHandshakes(side, words, "bad")) return;
    const bindings = side.requests.filter(({ method }) => method === "binding" || method === "allocate");
    if (types.size === 0 && side.lostCandidates > 0) {
      const text = `No candidate of ${side.name} reached ${this.#otherOf(side).name}: ${side.whyLost}.`;
      this.#add("candidates-lost", { tone: "bad", side, text, advice: "Without them the other side knows no address to connect to." });
      return;
    }
    if (types.size === 0) {
      if (isYoung) this.#add("gathering", { tone: "wait", side, text: `${side.name} has not sent a candidate yet.` });
      else if (bindings.length > 0) {
        this.#add("no-candidates", {
          tone: "bad",
          side,
          text: `${side.name} asked STUN or TURN, but sent no candidate to the other side.`,
          advice: "Send each candidate of onicecandidate, or wait until gathering is complete before you send the description.",
        });
      } else this.#addNeverArrived(side, "No candidates");
      return;
    }
    if (isYoung && !side.isGathered) {
      this.#add("gathering", { tone: "wait", side, text: `${side.name} still looks for candidates.` });
      return;
    }
    if (bindings.length === 0 && types.has("mdns") && !types.has("host")) {
      this.#add("mdns-only", {
        tone: "bad",
        side,
        text: `${side.name}: only names of multicast DNS, which the other side cannot resolve from its network, and no relay offered.`,
        advice: "Give the client the ICE servers of the welcome.",
      });
    } else if (bindings.length === 0) {
      this.#add("hosts-apart", {
        tone: "bad",
        side,
        text: `${side.name}: only host candidates of different networks and no relay offered.`,
        advice: `Give the client the ICE servers of the welcome. If it has them: ${this.#neverArrived}`,
      });
    } else if (types.has("srflx")) {
      this.#add("no-relay", {
        tone: "bad",
        side,
        text: `${side.name}: reflexive but no relay: no allocation was asked for.`,
        advice: "Give the client a turn: address with user name and credential, as the welcome has them, and not only stun:.",
      });
    } else {
      this.#add("no-relay", {
        tone: "bad",
        side,
        text: `${side.name}: only host candidates of different networks. STUN was asked and saw the same address; no allocation was asked for.`,
        advice: "Give the client a turn: address with user name and credential, as the welcome has them.",
      });
    }
  }

  get #neverArrived(): string {
    const { port, tlsPort } = this.#addresses;
    const tls = tlsPort === undefined ? "" : `, or turns:…:${tlsPort}`;
    return `UDP to ${port} never arrived, try TCP (turn:…:${port}?transport=tcp${tls}).`;
  }

  #addNeverArrived(side: IceSide, words: string): void {
    this.#add("never-arrived", {
      tone: "bad",
      side,
      text: `${side.name}: ${words.toLowerCase()}, neither reflexive nor relay: ${this.#neverArrived}`,
      advice: `A client without the ICE servers of the welcome asks nothing either${this.#addresses.tlsPort === undefined ? "" : ", and one that does not trust the certificate of turns: ends its TLS handshake, as the log says"}.`,
    });
  }

  /** The answer that kept a side from getting a relay. False where it has one, or did not ask. */
  #judgeAllocations(side: IceSide, words: string): boolean {
    const refused = side.requests.filter(
      ({ method, code }) => method === "allocate" && code !== 0 && code !== unauthenticated && code !== staleNonce,
    );
    const worst = refused.sort((a, b) => b.lastAt - a.lastAt)[0];
    if (!worst || side.relays.some(({ closed }) => closed === undefined)) return false;
    const { code, transport, isFault = false } = worst;
    const finding = (!isFault && allocateFindings[code]) || "allocation-refused";
    const meaning = isFault ? "by a fault on demand" : (allocateWords[code] ?? "see the request");
    this.#add(finding, {
      tone: "bad",
      side,
      text: `${side.name}: ${lowered(words)}: the allocation over ${transport.toUpperCase()} was refused with ${code}, ${meaning}.`,
      advice: isFault ? "Release the fault." : (allocateAdvice[code] ?? ""),
    });
    return true;
  }

  /**
   * A handshake with turns: that failed since the offer of this use of ICE, or while candidates were gathered for it: some clients send them with
   * their offer. Not where TLS has succeeded later.
   */
  #judgeHandshakes(side: IceSide, words: string, tone: "bad" | "note"): boolean {
    const { failedHandshake: failed, requests, relays, address } = side;
    const since = Math.min(...this.#sides.map(({ iceSince }) => iceSince)) - patienceMs;
    if (!failed || failed.at < since || relays.some(({ closed }) => closed === undefined)) return false;
    if (requests.some(({ transport, lastAt }) => transport === "tls" && lastAt > failed.at)) return false;
    const { port } = this.#addresses;
    this.#add("tls-failed", {
      tone,
      side,
      text: `${side.name}: ${lowered(words)}: a TLS handshake with turns: from its address, ${address}, failed ${this.#seconds(failed.at)} ago: ${failed.why}.`,
      advice: failed.isDistrust
        ? `Let its computer trust Backlot's authority (see Settings), or give the client turn:…:${port}, without TLS.`
        : `turn:…:${port} needs no TLS.`,
    });
    return true;
  }

  /** What is worth knowing beside the verdict. */
  #findDetails(): void {
    for (const side of this.#sides) {
      const other = this.#otherOf(side);
      if (!this.findings.some(({ tone, peer }) => tone === "ok" || (tone === "bad" && peer === side.peer)))
        this.#judgeHandshakes(side, "No relay", "note");
      if (side.earlyCandidates > 0)
        this.#add("early-candidates", {
          tone: "warn",
          side,
          text: `${side.name} sent ${counted(side.earlyCandidates, "candidate")} before its description.`,
          advice: `${other.name} has to keep them until setRemoteDescription has resolved: addIceCandidate fails before that.`,
        });
      if (side.lostCandidates > 0 && !this.findings.some(({ code, peer }) => code === "candidates-lost" && peer === side.peer))
        this.#add("candidates-lost", {
          tone: "warn",
          side,
          text: `${counted(side.lostCandidates, "candidate")} of ${side.name} did not reach ${other.name}: ${side.whyLost}.`,
        });
    }
  }

  #otherOf(side: IceSide): IceSide {
    return side === this.#sides[0] ? this.#sides[1] : this.#sides[0];
  }
}

const lowered = (words: string): string => `${words.charAt(0).toLowerCase()}${words.slice(1)}`;
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
