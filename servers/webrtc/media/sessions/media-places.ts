import { rateLimitKey } from "../../../core/limits/rate-limit-client.ts";
import { MediaProblem, retryAfter } from "./media-problem.ts";
import type { MediaSession } from "./media-session.ts";

type Placed = Pick<MediaSession, "client" | "state">;

/** The places of players, or of publishers. Each request asks for one: nothing of it grows with the sessions. */
export class MediaPlaces<Session extends Placed> {
  readonly #most: number;
  /** By address, the oldest first. */
  readonly #ofKeys = new Map<string, Set<Session>>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(session: Session): void {
    const key = keyOf(session.client);
    const known = this.#ofKeys.get(key);
    if (known?.has(session)) return;
    this.#size++;
    if (known) known.add(session);
    else this.#ofKeys.set(key, new Set([session]));
  }

  remove(session: Session): void {
    const key = keyOf(session.client);
    const known = this.#ofKeys.get(key);
    if (!known?.delete(session)) return;
    this.#size--;
    if (known.size === 0) this.#ofKeys.delete(key);
  }

  /** None of them is free. */
  isFull(except?: Session): boolean {
    return this.#size - (this.#has(except) ? 1 : 0) >= this.#most;
  }

  #has(session: Session | undefined): boolean {
    return session !== undefined && this.#ofKeys.get(keyOf(session.client))?.has(session) === true;
  }

  /**
   * The session that gives way to one more of the client where all places are taken: of the address that has most, one that is not connected, else the
   * newest. Undefined where that address would not have more than this one then. `except` is that one more.
   */
  givingWay(client: Session["client"], except?: Session): Session | undefined {
    const own = (this.#ofKeys.get(keyOf(client))?.size ?? 0) - (this.#has(except) ? 1 : 0);
    let most: ReadonlySet<Session> = new Set();
    for (const ofKey of this.#ofKeys.values()) if (ofKey.size > most.size) most = ofKey;
    if (most.size <= own + 1) return undefined;
    const all = [...most].filter((session) => session !== except);
    return all.find(({ state }) => state !== "connected") ?? all.at(-1);
  }
}

const keyOf = ({ address }: Pick<MediaSession["client"], "address">): string => rateLimitKey(address);

/** All places are taken, and nobody gives way. */
export function tooMany(what: "players" | "publishers", most: number): never {
  throw new MediaProblem(503, `The limit of ${what} is reached, which is ${most}. Raise it in Config.`, retryAfter);
}
