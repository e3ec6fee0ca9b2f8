import { webrtcActions } from "../../../../../contract/services/webrtc.ts";
import { readCandidate, readDescription } from "../../../../../contract/services/webrtc-description.ts";
import type { IceCheck } from "../../../../../contract/services/webrtc-ice-check.ts";
import type { TryOpened, TryReceived } from "../../../../../contract/services/webrtc-try.ts";
import type { ControlClient } from "../../../control/control-client.ts";
import { failureOf } from "../../../control/failure-error.ts";
import { candidateErrorText } from "../turn-errors.ts";
import { type CallDraft, configurationOf } from "./call-draft.ts";
import { type CallFigures, type LastFrames, readFigures } from "./call-figures.ts";
import { startTestPicture, type TestPicture } from "./test-picture.ts";

/** Who does something: one of the two peers, or the service. */
export type CallParty = "A" | "B" | "Backlot";

export interface CallStep {
  readonly place: number;
  /** Since the start. */
  readonly atMs: number;
  readonly from: CallParty;
  /** Of a message. */
  readonly to?: CallParty;
  readonly title: string;
  readonly tone?: "ok" | "bad";
  /** A description or candidate to read. */
  readonly text?: string;
}

export interface CallView {
  readonly state: "untried" | "opening" | "connecting" | "connected" | "ended";
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly draft: CallDraft;
  readonly steps: readonly CallStep[];
  readonly peers: readonly string[];
  /** Since the start; of both ends. */
  readonly connectedMs?: number;
  readonly firstPictureMs?: number;
  readonly roundTripMs?: number;
  readonly figures: readonly CallFigures[];
  /** What each gets from the other. */
  readonly streams: readonly MediaStream[];
  readonly failure?: string;
  readonly check?: IceCheck;
  readonly tookMs?: number;
}

const connectMs = 20_000;
const longestMs = 600_000;
const parties = ["A", "B"] as const;
const mostSteps = 200;

/** Two connections of this page that call one another through the service's signalling, and by its relays where that is asked for. */
export class PeerCall {
  readonly #client: ControlClient;
  readonly #listeners = new Set<() => void>();
  #view: CallView;
  #run: Run | undefined;

  constructor(client: ControlClient, draft: CallDraft) {
    this.#client = client;
    this.#view = { state: "untried", at: 0, draft, steps: [], peers: [], figures: [], streams: [] };
  }

  readonly view = (): CallView => this.#view;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  start(draft: CallDraft): void {
    this.#run?.end(undefined);
    const run = new Run(this.#client, draft, (view) => {
      // The one before ends while another one has begun.
      if (this.#run !== run) return;
      this.#view = view;
      for (const listener of [...this.#listeners]) listener();
    });
    this.#run = run;
    void run.start();
  }

  stop(): void {
    this.#run?.end(undefined);
  }
}

interface End {
  readonly party: "A" | "B";
  readonly place: number;
  readonly connection: RTCPeerConnection;
  readonly picture: TestPicture | undefined;
  readonly received: MediaStream;
  /** Candidates that came before the description. */
  readonly waiting: RTCIceCandidateInit[];
  readonly last: LastFrames;
  /** Sent to the other so far. */
  candidates: number;
  isGathered: boolean;
}

class Run {
  readonly #client: ControlClient;
  readonly #draft: CallDraft;
  readonly #show: (view: CallView) => void;
  readonly #beganMs = performance.now();
  readonly #at = Date.now();
  readonly #steps: CallStep[] = [];
  #opened: TryOpened | undefined;
  #ends: readonly End[] = [];
  #view: CallView;
  #isOver = false;
  #timers: ReturnType<typeof setTimeout>[] = [];
  readonly #once = new Set<string>();

  constructor(client: ControlClient, draft: CallDraft, show: (view: CallView) => void) {
    this.#client = client;
    this.#draft = draft;
    this.#show = show;
    this.#view = { state: "opening", at: this.#at, draft, steps: [], peers: [], figures: [], streams: [] };
  }

  async start(): Promise<void> {
    this.#show(this.#view);
    try {
      const opened = await this.#client.action(webrtcActions, "webrtc", "try.open", {});
      if (this.#isOver) return void this.#close(opened.call);
      this.#opened = opened;
      for (const [place, { iceServers, welcomedMs, joinedMs }] of opened.peers.entries()) {
        const party = parties[place] ?? "A";
        const urls = iceServers.flatMap((server) => server.urls).length;
        this.#add({ from: "Backlot", to: party, title: `welcome, with ${urls} addresses of STUN and TURN` }, welcomedMs);
        this.#add({ from: party, to: "Backlot", title: `join ${opened.room}` }, joinedMs);
      }
      this.#ends = opened.peers.map(({ iceServers }, place) => this.#createEnd(place, configurationOf(this.#draft, iceServers)));
      this.#set({ state: "connecting", peers: opened.peers.map(({ id }) => id), streams: this.#ends.map(({ received }) => received) });
      this.#timers.push(setTimeout(() => this.#fail(`not connected after ${connectMs / 1_000} s`), connectMs));
      void this.#read();
      await this.#offer();
    } catch (error) {
      this.#fail(failureOf(error).message);
    }
  }

  #createEnd(place: number, configuration: RTCConfiguration): End {
    const party = parties[place] ?? "A";
    const connection = new RTCPeerConnection(configuration);
    const picture = this.#draft.video ? startTestPicture(`From ${party}`) : undefined;
    const received = new MediaStream();
    const last = { atMs: 0, frames: 0 };
    const end: End = { party, place, connection, picture, received, waiting: [], last, candidates: 0, isGathered: false };
    for (const track of picture?.stream.getTracks() ?? []) connection.addTrack(track, (picture as TestPicture).stream);
    connection.onicecandidate = ({ candidate }) => this.#sendCandidate(end, candidate);
    connection.onicecandidateerror = (event) => this.#noteCandidateError(end, event);
    connection.onicegatheringstatechange = () => {
      if (connection.iceGatheringState === "complete") this.#noteGathered(end);
    };
    connection.oniceconnectionstatechange = () => {
      const { iceConnectionState: state } = connection;
      if (state === "checking" || state === "disconnected") this.#add({ from: party, title: `ICE ${state}` });
    };
    connection.onconnectionstatechange = () => void this.#noteConnection(end);
    connection.ontrack = ({ track }) => {
      end.received.addTrack(track);
      this.#watchPicture(end);
    };
    connection.ondatachannel = ({ channel }) => {
      channel.onmessage = ({ data }) => channel.send(String(data));
    };
    return end;
  }

  async #offer(): Promise<void> {
    const [caller] = this.#ends;
    if (!caller) return;
    if (this.#draft.data || !this.#draft.video) this.#openChannel(caller);
    await caller.connection.setLocalDescription();
    this.#sendDescription(caller);
  }

  #openChannel({ party, connection }: End): void {
    const channel = connection.createDataChannel("try");
    let sentMs = 0;
    channel.onopen = () => {
      this.#add({ from: party, title: "data channel open", tone: "ok" });
      sentMs = performance.now();
      channel.send("there and back");
    };
    channel.onmessage = () => {
      const roundTripMs = performance.now() - sentMs;
      this.#add({ from: "B", to: "A", title: `a message came back after ${roundTripMs.toFixed(1)} ms`, tone: "ok" });
      this.#set({ roundTripMs });
    };
  }

  #sendDescription(end: End): void {
    const { type, sdp = "" } = end.connection.localDescription ?? {};
    if (type !== "offer" && type !== "answer") return;
    const kinds = readDescription(sdp)?.media.map(({ kind }) => (kind === "application" ? "data" : kind)) ?? [];
    this.#send(end, { type, sdp }, `${type}: ${kinds.join(", ")}`, sdp);
  }

  #sendCandidate(end: End, candidate: RTCIceCandidate | null): void {
    // An empty one ends those of one section; null ends all of them.
    const line = candidate?.candidate ?? "";
    if (candidate && line === "") return;
    const read = readCandidate(line);
    if (read) end.candidates++;
    const title = read ? `candidate: ${read.type} ${read.transport} ${read.address}:${read.port}` : "end of candidates";
    this.#send(end, { type: "candidate", candidate: candidate?.toJSON() ?? null }, title, line);
  }

  #send({ place, party }: End, message: Readonly<Record<string, unknown>>, title: string, text: string): void {
    const opened = this.#opened;
    if (!opened || this.#isOver) return;
    this.#add({ from: party, to: party === "A" ? "B" : "A", title, ...(text !== "" && { text }) });
    const to = opened.peers[1 - place]?.id;
    this.#client
      .action(webrtcActions, "webrtc", "try.send", { call: opened.call, peer: place, text: JSON.stringify({ ...message, to }) })
      .catch((error: unknown) => this.#fail(failureOf(error).message));
  }

  async #read(): Promise<void> {
    let from = 0;
    while (!this.#isOver && this.#opened) {
      try {
        const { messages, next, ended } = await this.#client.action(webrtcActions, "webrtc", "try.read", { call: this.#opened.call, from });
        from = next;
        for (const message of messages) await this.#receive(message);
        if (ended !== undefined) this.#fail(ended);
      } catch (error) {
        this.#fail(failureOf(error).message);
      }
    }
  }

  async #receive({ peer, text }: TryReceived): Promise<void> {
    const end = this.#ends[peer];
    if (!end || this.#isOver) return;
    const message = JSON.parse(text) as {
      readonly type?: string;
      readonly sdp?: string;
      readonly candidate?: RTCIceCandidateInit | null;
      readonly message?: string;
    };
    const { connection, party } = end;
    try {
      if (message.type === "offer" || message.type === "answer") {
        await connection.setRemoteDescription({ type: message.type, sdp: message.sdp ?? "" });
        for (const candidate of end.waiting.splice(0)) await connection.addIceCandidate(candidate);
        if (message.type === "answer") return;
        await connection.setLocalDescription();
        this.#sendDescription(end);
      } else if (message.type === "candidate" && message.candidate) {
        if (connection.remoteDescription) await connection.addIceCandidate(message.candidate);
        else end.waiting.push(message.candidate);
      } else if (message.type === "error") this.#add({ from: "Backlot", to: party, title: `error: ${message.message ?? ""}`, tone: "bad" });
    } catch (error) {
      this.#add({ from: party, title: `could not use the ${message.type}: ${String(error)}`, tone: "bad" });
    }
  }

  #noteGathered(end: End): void {
    end.isGathered = true;
    const { party, candidates } = end;
    if (candidates > 0) {
      this.#add({ from: party, title: `all candidates gathered: ${candidates}` });
      return;
    }
    const what = this.#draft.way === "relay" ? "it got no relay, and other candidates are not allowed" : "there is none";
    this.#add({ from: party, title: `no candidates: ${what}`, tone: "bad" });
    if (this.#ends.every((one) => one.isGathered && one.candidates === 0)) this.#fail("neither peer has a candidate to connect by");
  }

  #noteCandidateError({ party }: End, { errorCode, errorText, url }: RTCPeerConnectionIceErrorEvent): void {
    // A server is asked from each address of the device: one error of a kind is enough.
    const key = `${party} ${errorCode} ${url}`;
    if (this.#once.has(key)) return;
    this.#once.add(key);
    this.#add({ from: party, title: candidateErrorText({ url: url ?? "", code: errorCode, text: errorText }), tone: "bad" });
  }

  async #noteConnection(end: End): Promise<void> {
    const { connection, party } = end;
    const { connectionState: state } = connection;
    if (state === "failed") {
      this.#add({ from: party, title: "no way to the other was found", tone: "bad" });
      this.#fail("ICE has failed");
    }
    if (state !== "connected") return;
    const { pair } = await this.#figuresOf(end);
    this.#add({ from: party, title: `connected, by ${pair}`, tone: "ok" });
    if (this.#ends.every((one) => one.connection.connectionState === "connected") && this.#view.state === "connecting")
      this.#noteConnected();
  }

  #noteConnected(): void {
    this.#set({ state: "connected", connectedMs: this.#sinceMs() });
    this.#clearTimers();
    this.#timers.push(setTimeout(() => this.end(undefined), longestMs));
    const tick = async () => {
      if (this.#isOver) return;
      this.#set({ figures: await Promise.all(this.#ends.map((end) => this.#figuresOf(end))) });
      await this.#explain();
      if (!this.#isOver) this.#timers.push(setTimeout(() => void tick(), 1_000));
    };
    void tick();
  }

  #watchPicture({ party, received }: End): void {
    const video = document.createElement("video");
    video.muted = true;
    video.srcObject = received;
    video.requestVideoFrameCallback(() => {
      video.srcObject = null;
      if (this.#isOver) return;
      this.#add({ from: party, title: "first picture", tone: "ok" });
      if (this.#view.firstPictureMs === undefined) this.#set({ firstPictureMs: this.#sinceMs() });
    });
    void video.play().catch(() => {});
  }

  async #figuresOf({ connection, last }: End): Promise<CallFigures> {
    return await readFigures(connection, this.#view.state === "connected" ? last : undefined);
  }

  /** What the service saw of both. */
  async #explain(): Promise<void> {
    const [one, other] = this.#view.peers;
    if (one === undefined || other === undefined) return;
    try {
      const check = await this.#client.action(webrtcActions, "webrtc", "ice.check", { peers: [one, other] });
      if (check) this.#set({ check });
    } catch {
      // The steps say what happened; the service may have stopped.
    }
  }

  #fail(why: string): void {
    if (this.#isOver) return;
    void this.#explain().finally(() => this.end(why));
  }

  /** Without a reason it was stopped. */
  end(failure: string | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#clearTimers();
    for (const { connection, picture } of this.#ends) {
      connection.close();
      picture?.stop();
    }
    if (this.#opened) this.#close(this.#opened.call);
    this.#set({ state: "ended", tookMs: this.#sinceMs(), ...(failure !== undefined && { failure }) });
  }

  #close(call: number): void {
    this.#client.action(webrtcActions, "webrtc", "try.close", { call }).catch(() => {});
  }

  #clearTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [];
  }

  #sinceMs(): number {
    return performance.now() - this.#beganMs;
  }

  #add(step: Omit<CallStep, "atMs" | "place">, atMs = this.#sinceMs()): void {
    if (this.#steps.length >= mostSteps || this.#isOver) return;
    this.#steps.push({ ...step, place: this.#steps.length, atMs });
    this.#set({ steps: [...this.#steps] });
  }

  #set(part: Partial<CallView>): void {
    this.#view = { ...this.#view, ...part };
    this.#show(this.#view);
  }
}
