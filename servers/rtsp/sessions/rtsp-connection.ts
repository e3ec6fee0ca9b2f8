import { isIPv6, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { BudgetShare, SharedBudget } from "../../core/limits/shared-budget.ts";
import { plainAddress } from "../../core/net/client-socket.ts";
import type { Log } from "../../core/service/log.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { WorkShare } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { EndedBy, SessionEntry } from "../observe/session-entry.ts";
import type { SessionRecorder } from "../observe/session-recorder.ts";
import { sessionIdOf } from "../protocol/header-fields.ts";
import { type HeaderFields, headerOf, RtspRefusal, type RtspRequest, type RtspStatus, writeResponse } from "../protocol/message.ts";
import { type ParserLimits, RtspParser, RtspSyntaxError } from "../protocol/rtsp-parser.ts";
import type { Announcement } from "./announcement.ts";
import type { ChannelReceiver } from "./choose-transport.ts";
import { type ByteInput, type HttpTunnels, httpRefusal, type TunnelEnd, TunnelInput, tunnelAnswer, tunnelCookie } from "./http-tunnel.ts";
import type { MulticastGroups } from "./multicast-groups.ts";
import type { RequestAnswer, RequestConnection, RequestHandler } from "./request-handlers.ts";
import type { RtspSession, SessionUser } from "./rtsp-session.ts";
import type { SessionTable } from "./session-table.ts";
import type { UdpPorts } from "./udp-ports.ts";
import { BatchedWriter, type WriteBatch } from "./write-batch.ts";

export interface ConnectionLimits extends ParserLimits {
  /** A connection that has had no session and no request for this time is closed. */
  readonly idleMs: number;
  /** A client with more unsent bytes than this loses its connection at once. */
  readonly mostUnsentBytes: number;
}

export interface ConnectionParts {
  readonly handle: RequestHandler;
  readonly sessions: SessionTable;
  readonly recorder: SessionRecorder;
  readonly udp: UdpPorts | undefined;
  readonly multicast: MulticastGroups | undefined;
  readonly tunnels: HttpTunnels;
  readonly limits: ConnectionLimits;
  readonly writes: WriteBatch;
  /** Bytes that are received in part, or wait for their turn, of all connections. */
  readonly held: SharedBudget;
  /** Bytes that clients leave unread, of all connections. */
  readonly unread: SharedBudget;
  /** Of all connections. */
  readonly turns: WorkTurns;
  readonly log: Log;
  readonly onClosed: (connection: RtspConnection) => void;
}

const serverField = ["Server", "Backlot"] as const;
/** RFC 2326 §12.38: it goes back as it came. */
function timestampOf({ headers }: RtspRequest): HeaderFields {
  const timestamp = headerOf(headers, "Timestamp");
  return timestamp === undefined ? [] : [["Timestamp", timestamp]];
}

/** For the last bytes to reach a client that is disconnected. */
const lingerMs = 2_000;

/** One connection of a client: its requests are answered one after the other, its packets go to their sessions. */
export class RtspConnection implements RequestConnection, SessionUser, TunnelEnd {
  readonly id: number;
  readonly address: string;
  readonly localAddress: string;
  readonly udp: UdpPorts | undefined;
  readonly multicast: MulticastGroups | undefined;
  readonly openedAt = Date.now();
  readonly channels = new Map<number, ChannelReceiver>();
  announced: Announcement | undefined;
  /** Packets on channels that were not set up. */
  strayPackets = 0;
  requests = 0;
  readonly #socket: Socket;
  readonly #parts: ConnectionParts;
  readonly #parser: RtspParser;
  readonly #packets: BatchedWriter;
  readonly #share: WorkShare;
  readonly #held: BudgetShare;
  readonly #unread: BudgetShare;
  readonly #sessions = new Set<RtspSession>();
  /** The row of what has no session yet. */
  #entry: SessionEntry | undefined;
  /** An answer is awaited, or what was received is worked off in another turn. */
  #isBusy = false;
  /** Bytes of answers that wait for the client. Packets do not count: a player that is behind with them is heard, so that it can pause. */
  #unsentAnswers = 0;
  /** Too many answers wait for the client: nothing more of it is read before it has taken them. */
  #isBlocked = false;
  /** What is not read until then: its own socket, or the POSTs of its tunnel. */
  readonly #paused = new Set<ByteInput>();
  #isClosing = false;
  #activeAtMs = performance.now();
  #linger: NodeJS.Timeout | undefined;
  /** Of the GET of a tunnel. */
  #tunnelCookie: string | undefined;
  /** Of its POST: where the requests go. */
  #tunnel: TunnelInput | undefined;

  constructor(id: number, socket: Socket, parts: ConnectionParts) {
    this.id = id;
    this.address = plainAddress(socket.remoteAddress ?? "");
    this.localAddress = plainAddress(socket.localAddress ?? "127.0.0.1");
    this.udp = parts.udp;
    this.multicast = parts.multicast;
    this.#socket = socket;
    this.#parts = parts;
    this.#parser = new RtspParser(parts.limits);
    this.#share = parts.turns.join(this.address, this.#goOn);
    this.#packets = new BatchedWriter(socket, parts.writes, parts.turns.background(this.address));
    this.#held = parts.held.open(this.address, () => this.lose("what it sent in part was most, and RTSP_ALL_REQUEST_BYTES is exceeded"));
    this.#unread = parts.unread.open(this.address, () => this.#loseUnread());
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#receive(chunk));
    // "close" follows.
    socket.on("error", () => {});
    socket.once("close", () => this.#closed());
  }

  get remote(): string {
    return `${this.address}:${this.#socket.remotePort ?? 0}`;
  }

  get local(): string {
    const port = this.#socket.localPort ?? 0;
    return isIPv6(this.localAddress) ? `[${this.localAddress}]:${port}` : `${this.localAddress}:${port}`;
  }

  /** "TLSv1.3" */
  get tls(): string | undefined {
    return this.#socket instanceof TLSSocket ? (this.#socket.getProtocol() ?? undefined) : undefined;
  }

  get isOpen(): boolean {
    return !this.#isClosing;
  }

  get isTunnel(): boolean {
    return this.#tunnelCookie !== undefined;
  }

  get bytes(): { readonly read: number; readonly written: number } {
    return { read: this.#socket.bytesRead, written: this.#socket.bytesWritten };
  }

  get unsentBytes(): number {
    return this.#packets.unsentBytes;
  }

  writePackets(bytes: Buffer): void {
    if (!this.#isClosing && !this.#socket.destroyed) this.#packets.write(bytes);
  }

  uses(session: RtspSession): void {
    if (this.#sessions.has(session)) return;
    this.#sessions.add(session);
    session.users.add(this);
    if (this.#entry && !this.#parts.recorder.entryOf(session)) {
      this.#parts.recorder.bind(session, this.#entry);
      this.#entry = undefined;
    }
  }

  onSessionEnd(session: RtspSession, by: EndedBy): void {
    this.#sessions.delete(session);
    // The client finds out by its connection: RTSP 1.0 has no request from a server for it.
    if (by === "server") this.close();
    else if (by === "fault") this.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#isClosing) return;
    if (this.#tunnel) {
      this.#tunnel.receive(chunk);
      return;
    }
    // The bytes behind the GET of a tunnel mean nothing.
    if (this.isTunnel) return;
    this.receiveTunnelled(chunk, this.#socket);
  }

  receiveTunnelled(bytes: Buffer, from: ByteInput): void {
    if (this.#isClosing) return;
    this.#parser.push(bytes);
    this.#work();
    this.#count();
    if (!this.#isBusy && !this.#isBlocked) return;
    this.#paused.add(from);
    from.pause();
  }

  #work(): void {
    try {
      while (!this.#isBusy && !this.#isBlocked && !this.#isClosing) {
        if (this.#share.isOver) {
          this.#isBusy = true;
          this.#share.later();
          return;
        }
        const item = this.#parser.next();
        if (!item) return;
        if (item.kind === "packet") this.#receivePacket(item.channel, item.payload);
        else if (item.kind === "request") this.#request(item);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #goOn = (): void => {
    this.#isBusy = false;
    this.#work();
    this.#count();
    if (this.#isBusy || this.#isBlocked) return;
    const paused = [...this.#paused];
    this.#paused.clear();
    for (const input of paused) input.resume();
  };

  #count(): void {
    this.#held.set(this.#isClosing ? 0 : this.#parser.heldBytes);
  }

  /** All hold too much, and this one most. */
  lose(reason: string): void {
    this.#entry ??= this.#parts.recorder.begin(this);
    this.#entry.failed(reason);
    this.#isClosing = true;
    this.#parser.take();
    this.#count();
    this.destroy();
  }

  #loseUnread(): void {
    this.#unread.set(0);
    for (const session of [...this.#sessions]) session.end("what it left unread was most, and RTSP_ALL_UNSENT_BYTES is exceeded", "server");
    this.destroy();
  }

  #receivePacket(channel: number, payload: Buffer): void {
    const receiver = this.channels.get(channel);
    if (receiver) receiver(payload);
    else this.strayPackets++;
  }

  /** Bytes that are not RTSP, or an error of ours: no other connection is affected. */
  #fail(error: unknown): void {
    if (error instanceof RtspSyntaxError) {
      this.#entry ??= this.#parts.recorder.begin(this);
      this.#entry.failed(error.message);
      this.#send(this.#entry, { status: error.status, cseq: error.cseq, headers: [] });
    } else this.#parts.log.error(`${this.remote}: ${errorText(error)}`);
    this.close();
  }

  /** Where the answer comes later, nothing else is read before it. */
  #request(request: RtspRequest): void {
    this.requests++;
    this.#parts.recorder.requests++;
    this.#activeAtMs = performance.now();
    if (request.version.startsWith("HTTP/")) {
      this.#http(request);
      return;
    }
    const entry = this.#entryFor(request);
    entry.received(request);
    let answer: RequestAnswer | Promise<RequestAnswer>;
    try {
      if (!/^\d{1,10}$/.test(headerOf(request.headers, "CSeq") ?? "")) throw new RtspRefusal(400, "the request has no CSeq");
      answer = this.#parts.handle(request, this);
    } catch (error) {
      this.#refuse(entry, request, error);
      return;
    }
    if (!(answer instanceof Promise)) {
      this.#answer(entry, request, answer);
      return;
    }
    this.#isBusy = true;
    answer
      .then(
        (given) => this.#answer(entry, request, given),
        (error: unknown) => this.#refuse(entry, request, error),
      )
      .catch((error: unknown) => this.#fail(error))
      .finally(this.#goOn);
  }

  #http(request: RtspRequest): void {
    const { tunnels } = this.#parts;
    const cookie = tunnelCookie(request);
    const end = cookie === undefined ? undefined : tunnels.find(cookie, this.address);
    if (cookie !== undefined && request.method === "GET" && !this.isTunnel && tunnels.open(cookie, this)) {
      this.#tunnelCookie = cookie;
      this.#socket.write(tunnelAnswer);
    } else if (request.method === "POST" && end && end !== this) {
      this.#tunnel = new TunnelInput(end, this.#socket, this.#parts.turns);
      this.#receive(this.#parser.take());
    } else {
      const isTunnel = cookie !== undefined;
      this.#socket.write(
        httpRefusal(isTunnel ? "400 Bad Request" : "404 Not Found", "This port speaks RTSP. Management has a port of its own.\n"),
      );
      this.close();
    }
  }

  /** Requests of a session belong to its row, whichever connection they come by. */
  #entryFor(request: RtspRequest): SessionEntry {
    const id = sessionIdOf(headerOf(request.headers, "Session") ?? "");
    const session = id === undefined ? undefined : this.#parts.sessions.get(id);
    const known = session && session.address === this.address ? this.#parts.recorder.entryOf(session) : undefined;
    if (known) return known;
    this.#entry ??= this.#parts.recorder.begin(this);
    return this.#entry;
  }

  #answer(entry: SessionEntry, request: RtspRequest, { headers, body, after }: RequestAnswer): void {
    this.#send(entry, {
      status: 200,
      cseq: headerOf(request.headers, "CSeq"),
      headers: [...timestampOf(request), ...headers],
      ...(body && { body }),
    });
    after?.();
  }

  #refuse(entry: SessionEntry, request: RtspRequest, error: unknown): void {
    const cseq = headerOf(request.headers, "CSeq");
    if (error instanceof RtspRefusal) {
      entry.failed(error.message);
      this.#send(entry, { status: error.status, cseq, headers: [...timestampOf(request), ...error.headers] });
      return;
    }
    this.#parts.log.error(`${request.method} of ${this.remote}: ${errorText(error)}`);
    this.#send(entry, { status: 500, cseq, headers: [] });
  }

  #send(entry: SessionEntry, answer: Parameters<typeof writeResponse>[0] & { readonly status: RtspStatus }): void {
    if (this.#socket.destroyed) return;
    const bytes = writeResponse({ ...answer, headers: [serverField, ...answer.headers] });
    entry.sent(bytes, answer.status);
    this.#unsentAnswers += bytes.length;
    if (this.#unsentAnswers >= this.#socket.writableHighWaterMark) this.#isBlocked = true;
    // An answer does not wait for the turn of packets.
    this.#packets.flush();
    this.#socket.write(bytes, (error) => {
      if (!error) this.#answerTaken(bytes.length);
    });
  }

  #answerTaken(bytes: number): void {
    this.#unsentAnswers -= bytes;
    if (!this.#isBlocked || this.#unsentAnswers > 0) return;
    this.#isBlocked = false;
    if (!this.#isBusy) this.#goOn();
  }

  /** Once a second. */
  tick(nowMs: number): void {
    this.#unread.set(this.#isClosing ? 0 : this.#packets.takeStaleBytes());
    if (this.unsentBytes > this.#parts.limits.mostUnsentBytes) this.#socket.destroy();
    else if (this.#tunnel && !this.#tunnel.end.isOpen) this.close();
    else if (this.#sessions.size === 0 && !this.#isBusy && !this.#tunnel && nowMs - this.#activeAtMs > this.#parts.limits.idleMs)
      this.close();
  }

  /** Sends what is written and closes. */
  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#socket.end();
    this.#linger = setTimeout(() => this.#socket.destroy(), lingerMs);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #closed(): void {
    clearTimeout(this.#linger);
    this.#isClosing = true;
    this.#count();
    this.#held.close();
    this.#unread.set(0);
    this.#unread.close();
    this.announced?.release();
    if (this.#tunnelCookie !== undefined) this.#parts.tunnels.close(this.#tunnelCookie, this);
    for (const session of [...this.#sessions]) if (session.dependsOn(this)) session.end("the client has disconnected", "client");
    for (const session of this.#sessions) session.users.delete(this);
    this.#sessions.clear();
    this.channels.clear();
    if (this.#entry) this.#parts.recorder.endConnection(this.#entry);
    this.#entry = undefined;
    this.#parts.onClosed(this);
  }
}
