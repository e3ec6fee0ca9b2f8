import type { WebrtcSignalKind } from "../../../contract/traffic/webrtc.ts";
import type { Hub } from "../signalling/hub.ts";
import type { DeliveryEffect } from "../signalling/signalling-event.ts";
import type { SignalFact } from "../signalling/signalling-observer.ts";

/** What became of a message, in a row and in the ladder. */
export interface SignalOutcome {
  /** "delivered", "joined", or the code of the refusal. */
  readonly text: string;
  readonly tone: "ok" | "refused" | "aborted" | "pending";
  /** It was meant for others, and reached nobody. */
  readonly isLost: boolean;
  /** Why, as a sentence; absent where there is nothing to explain. */
  readonly reason?: string;
}

/** The room that it went to; of a message to one peer that in which both are, if there is one. */
export function roomOf({ peer, to, room }: Pick<SignalFact, "peer" | "to" | "room">, hub: Pick<Hub, "find">): string | undefined {
  const receiver = to === undefined ? undefined : hub.find(to);
  return room ?? peer?.rooms.find((one) => receiver?.rooms.includes(one))?.name;
}

const ofKind: Readonly<Partial<Record<WebrtcSignalKind, string>>> = { join: "joined", leave: "left" };
const isForOthers: ReadonlySet<WebrtcSignalKind> = new Set<WebrtcSignalKind>(["offer", "answer", "candidate", "chat"]);
const lateWords: Readonly<Record<Exclude<DeliveryEffect, "dropped">, readonly [text: string, reason: string]>> = {
  delayed: ["delayed", "A fault on demand delays it."],
  duplicated: ["delivered twice", "A fault on demand duplicates it."],
  reordered: ["delivered out of order", "A fault on demand lets the next one pass."],
};

const passedOn = "Its receiver is connected to another instance, whose faults on demand may hold it back or drop it.";

export type PassedFact = Pick<SignalFact, "kind" | "to" | "room" | "deliveries" | "effects" | "refusal" | "held" | "isElsewhere">;

/** Clients that have got it by now, or will get it. */
export const arriving = ({ deliveries, held }: Pick<SignalFact, "deliveries" | "held">): number => deliveries - (held?.lost ?? 0);

export function outcomeOf(fact: PassedFact): SignalOutcome {
  const { kind, to, room, effects = [], refusal, held, isElsewhere = false } = fact;
  const deliveries = arriving(fact);
  if (refusal) return { text: refusal.code, tone: "refused", isLost: true, reason: refusal.message };
  if (held && !held.isOver) return { text: "delayed", tone: "pending", isLost: false, reason: "A fault on demand holds it back." };
  const dropped = effects.filter((effect) => effect === "dropped").length;
  if (held?.reason && deliveries === 0)
    return {
      ...{ text: `lost: ${held.reason}`, tone: "aborted", isLost: true },
      reason: `A fault on demand held it back until its ${held.reason.replace(" ", " had ")}: nobody got it.`,
    };
  if (held?.reason) {
    const missing = held.lost + dropped;
    const reason = `A fault on demand kept it from ${missing} of ${missing + deliveries}, and the ${held.reason.replace(" ", " has ")}.`;
    return { text: `lost for ${missing}`, tone: "aborted", isLost: false, reason };
  }
  if (dropped > 0 && deliveries === 0)
    return { text: "dropped by a fault", tone: "aborted", isLost: true, reason: "A fault on demand dropped it: nobody got it." };
  if (dropped > 0) {
    const reason = `A fault on demand dropped it on the way to ${dropped} of ${dropped + deliveries}.`;
    return { text: `dropped for ${dropped}`, tone: "aborted", isLost: false, reason };
  }
  const changed = effects.find((effect) => effect !== "dropped");
  if (changed) return { text: lateWords[changed][0], tone: "ok", isLost: false, reason: lateWords[changed][1] };
  if (isElsewhere) return { text: "passed on", tone: "ok", isLost: false, reason: passedOn };
  const known = ofKind[kind];
  if (known !== undefined || deliveries > 0) return { text: known ?? "delivered", tone: "ok", isLost: false };
  const isLost = isForOthers.has(kind);
  return { text: isLost || (to === undefined && room !== undefined) ? "nobody there" : "received", tone: "ok", isLost };
}
