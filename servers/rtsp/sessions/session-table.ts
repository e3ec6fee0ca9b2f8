import { LimitedPlaces } from "../../core/limits/limited-places.ts";
import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";
import { everySecondInTurns } from "../../core/service/every-second.ts";
import { oneStep } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { RtspRefusal } from "../protocol/message.ts";
import type { PortPair } from "../protocol/transport-header.ts";
import { RtspSession, type SessionMedia, type SessionOptions } from "./rtsp-session.ts";

export interface SessionTableOptions {
  readonly sessions: number;
  readonly sessionsPerAddress: number;
  readonly onEnd: SessionOptions["onEnd"];
  readonly turns: WorkTurns;
}

/** The open sessions of all connections: one may go on over another connection (RFC 2326 §12.37). */
export class SessionTable {
  readonly #options: SessionTableOptions;
  readonly #sessions = new Map<string, RtspSession>();
  readonly #places: LimitedPlaces<RtspSession>;
  readonly #stopTicking: () => void;
  /** Sessions so far. */
  opened = 0;
  refused = 0;

  constructor(options: SessionTableOptions) {
    this.#options = options;
    this.#places = new LimitedPlaces({ most: options.sessions, mostOfAddress: options.sessionsPerAddress }, (session) =>
      session.end("too many sessions: this address had most", "server"),
    );
    this.#stopTicking = everySecondInTurns(
      options.turns,
      () => this.#sessions.values(),
      (session, nowMs) => {
        if (this.#sessions.has(session.id)) session.tick(nowMs);
      },
    );
  }

  get(id: string): RtspSession | undefined {
    return this.#sessions.get(id);
  }

  get size(): number {
    return this.#sessions.size;
  }

  list(): RtspSession[] {
    return [...this.#sessions.values()];
  }

  /** Throws an RtspRefusal of 503 where there are too many. */
  open(media: SessionMedia, options: Omit<SessionOptions, "background" | "onEnd" | "inTurn">): RtspSession {
    const { address } = options;
    const lack = this.#places.lacksPlaceFor(address);
    if (lack) {
      this.refused++;
      const whose = lack === "of all" ? "" : ` of ${rateLimitKey(address)}`;
      throw new RtspRefusal(503, `there are too many sessions${whose}`);
    }
    const session = new RtspSession(media, {
      ...options,
      background: this.#options.turns.background(address),
      inTurn: (end) => void this.#options.turns.connection(address).run(oneStep(end)),
      onEnd: (ended, reason, by) => {
        this.#remove(ended);
        this.#options.onEnd(ended, reason, by);
      },
    });
    this.#sessions.set(session.id, session);
    this.#places.add(address, session);
    this.opened++;
    return session;
  }

  /**
   * Ends the sessions of an address that have one of these UDP ports and no connection any more: the ports are a new socket's, as after a
   * restart of the client.
   */
  endAbandoned(address: string, ports: PortPair): void {
    const hasOne = ({ transports }: RtspSession) =>
      [...transports.values()].some(({ answer }) => answer.clientPorts?.some((port, index) => port === ports[index]));
    for (const session of this.list())
      if (session.address === address && session.users.size === 0 && hasOne(session))
        session.end("its UDP ports were set up again over another connection", "client");
  }

  #remove(session: RtspSession): void {
    this.#sessions.delete(session.id);
    this.#places.remove(session);
  }

  close(reason: string): void {
    this.#stopTicking();
    for (const session of this.list()) session.end(reason, "server");
  }
}
