import { type ConnectionReport, readReport } from "../room/connection-report.ts";
import { type HttpSession, type OpenSessionOptions, openHttpSession, StreamRefused } from "./http-session.ts";

export type StreamState =
  | { readonly state: "idle"; readonly problem?: string }
  | { readonly state: "opening" }
  | {
      readonly state: "open";
      readonly connection: RTCPeerConnectionState;
      readonly stream: MediaStream;
      readonly notes: readonly string[];
      readonly report: ConnectionReport | undefined;
    };

const reportEveryMs = 1_000;

/** A player or a publisher: one session at a time. A store for React. */
export class StreamClient {
  state: StreamState = { state: "idle" };
  readonly #listeners = new Set<() => void>();
  #session: HttpSession | undefined;
  #timer: number | undefined;
  /** Of the newest opening: an older one that resolves later is stopped. */
  #opening = 0;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly getState = (): StreamState => this.state;

  async open(options: OpenSessionOptions): Promise<void> {
    this.stop();
    const opening = ++this.#opening;
    this.#set({ state: "opening" });
    try {
      const session = await openHttpSession(options);
      if (opening !== this.#opening) {
        session.stop();
        return;
      }
      this.#session = session;
      session.connection.onconnectionstatechange = () => this.#show(session);
      this.#timer = window.setInterval(() => void this.#look(session), reportEveryMs);
      this.#show(session);
    } catch (error) {
      if (opening !== this.#opening) return;
      const what = error instanceof Error ? error.message : String(error);
      this.#set({ state: "idle", problem: error instanceof StreamRefused ? what : `The browser refuses: ${what}` });
    }
  }

  stop(problem?: string): void {
    this.#opening++;
    clearInterval(this.#timer);
    this.#session?.stop();
    this.#session = undefined;
    this.#set({ state: "idle", ...(problem !== undefined && { problem }) });
  }

  #show(session: HttpSession, report?: ConnectionReport): void {
    if (this.#session !== session) return;
    const { connectionState } = session.connection;
    if (connectionState === "failed" || connectionState === "closed") {
      this.stop("The connection was lost: no media has come for a while, or the stream has ended.");
      return;
    }
    const known = this.state.state === "open" ? this.state.report : undefined;
    this.#set({ state: "open", connection: connectionState, stream: session.stream, notes: session.notes, report: report ?? known });
  }

  async #look(session: HttpSession): Promise<void> {
    const before = this.state.state === "open" ? this.state.report : undefined;
    this.#show(session, readReport(await session.connection.getStats(), before));
  }

  #set(state: StreamState): void {
    this.state = state;
    for (const listener of this.#listeners) listener();
  }
}
