import { type ConnectionReport, readReport } from "./connection-report.ts";

export interface CandidateProblem {
  readonly url: string;
  readonly code: number;
  readonly text: string;
}

/** What is shown of a call. */
export interface CallState {
  readonly connection: RTCPeerConnectionState;
  readonly ice: RTCIceConnectionState;
  readonly gathering: RTCIceGatheringState;
  readonly signalling: RTCSignalingState;
  /** With the other's tracks. */
  readonly stream: MediaStream | undefined;
  readonly report: ConnectionReport | undefined;
  /** Of the last ping over the data channel. */
  readonly pingMs: number | undefined;
  readonly pings: number;
  readonly candidateProblems: readonly CandidateProblem[];
  /** An offer, an answer or a candidate that could not be used. */
  readonly problem: string | undefined;
}

export type CallMessage =
  | { readonly type: "offer" | "answer"; readonly sdp: string }
  | { readonly type: "candidate"; readonly candidate: RTCIceCandidateInit };

export interface PeerCallOptions {
  readonly configuration: RTCConfiguration;
  /** Gives way where both offer at once; of two ends one is polite. */
  readonly isPolite: boolean;
  readonly tracks: MediaStream | undefined;
  readonly send: (message: CallMessage) => void;
  readonly onChange: () => void;
}

const reportEveryMs = 1_000;
const mostEarlyCandidates = 200;
const mostProblems = 20;
const longestProblem = 300;
/** A browser makes one for sound, one for pictures and one for data, and more for each further picture. */
const mostMediaSections = 16;
const mostTracks = 16;
/** An answer takes less, unless the other end is gone. */
const answerMs = 3_000;
/** What the other end sends over data channels is of no use here but for the pings, and cannot be read more slowly. */
const mostChannels = 20;
const mostMessagesPerSecond = 2_000;
const mostBytesPerSecond = 8 << 20;
const mostUnsentPongs = 64 << 10;

/** One call, by the perfect negotiation of the WebRTC specification (§10.7). */
export class PeerCall {
  readonly #options: PeerCallOptions;
  readonly #connection: RTCPeerConnection;
  readonly #timer: number;
  /** Came before the description that they belong to. */
  readonly #early: RTCIceCandidateInit[] = [];
  readonly #stream = new MediaStream();
  #channel: RTCDataChannel | undefined;
  #isOffering = false;
  #isIgnoringOffer = false;
  #isTakingAnswer = false;
  #nextPing = 1;
  #pingSentAt: { readonly number: number; readonly atMs: number } | undefined;
  #report: ConnectionReport | undefined;
  #problem: string | undefined;
  #pingMs: number | undefined;
  #pings = 0;
  #candidateProblems: readonly CandidateProblem[] = [];
  #isClosed = false;
  #isReadingReport = false;
  #begunAtMs = Number.NEGATIVE_INFINITY;
  /** Of the other end's descriptions. */
  #session: string | undefined;
  #channels = 0;
  /** What came over data channels since then. */
  #received = { sinceMs: 0, messages: 0, bytes: 0 };

  constructor(options: PeerCallOptions) {
    const connection = new RTCPeerConnection(options.configuration);
    this.#options = options;
    this.#connection = connection;
    connection.onnegotiationneeded = () => void this.#offer();
    connection.onicecandidate = ({ candidate }) => {
      // The end of the candidates, and the empty one of old versions, need not be told.
      if (candidate && candidate.candidate !== "") options.send({ type: "candidate", candidate: candidate.toJSON() });
    };
    connection.onicecandidateerror = ({ url, errorCode, errorText }) => {
      const known = this.#candidateProblems.some((one) => one.url === url && one.code === errorCode);
      if (known || this.#candidateProblems.length >= mostProblems) return;
      this.#candidateProblems = [...this.#candidateProblems, { url: url ?? "", code: errorCode, text: errorText }];
      this.#changed();
    };
    connection.ontrack = ({ track }) => {
      for (const old of this.#stream.getTracks()) if (old.readyState === "ended") this.#stream.removeTrack(old);
      if (this.#stream.getTracks().length < mostTracks) this.#stream.addTrack(track);
      this.#changed();
    };
    connection.ondatachannel = ({ channel }) => {
      if (this.#channels < mostChannels) this.#use(channel);
      else this.#end(`The other end opened more than ${mostChannels} data channels.`);
    };
    for (const event of ["connectionstatechange", "iceconnectionstatechange", "icegatheringstatechange", "signalingstatechange"])
      connection.addEventListener(event, () => this.#changed());
    this.#timer = window.setInterval(() => void this.#eachSecond(), reportEveryMs);
  }

  /** Whether the offer is of another connection than the one that this call is with: the other end has begun anew. */
  isWithAnother(offer: string): boolean {
    return this.#session !== undefined && this.#session !== sessionOf(offer);
  }

  /** Its offer has just been made, and the answer is on its way: it could not be told from that to another offer. */
  get isBeginning(): boolean {
    return this.#session === undefined && performance.now() - this.#begunAtMs < answerMs;
  }

  /** Adds what is sent and the data channel: the offer follows by itself. The other end only answers. */
  begin(): void {
    this.#begunAtMs = performance.now();
    this.#addTracks();
    this.#use(this.#connection.createDataChannel("ping"));
  }

  /** Sends other tracks in place of those that are sent now. */
  async send(tracks: MediaStream): Promise<void> {
    if (this.#isClosed) return;
    for (const track of tracks.getTracks()) {
      const sender = this.#connection.getSenders().find((one) => one.track?.kind === track.kind);
      if (sender) await sender.replaceTrack(track);
      else this.#connection.addTrack(track, tracks);
    }
  }

  /** New candidates by this configuration; what is in use goes on until another pair is found. */
  restart(configuration: RTCConfiguration): void {
    this.#candidateProblems = [];
    this.#connection.setConfiguration(configuration);
    this.#connection.restartIce();
    this.#changed();
  }

  async receive(message: CallMessage): Promise<void> {
    if (this.#isClosed) return;
    try {
      if (message.type === "candidate") await this.#takeCandidate(message.candidate);
      else await this.#takeDescription(message);
    } catch (error) {
      if (!(message.type === "candidate" && this.#isIgnoringOffer)) this.#fail(`The ${message.type} could not be used`, error);
    }
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#channel?.close();
    this.#connection.close();
  }

  async #offer(): Promise<void> {
    try {
      this.#isOffering = true;
      await this.#connection.setLocalDescription();
      this.#sendDescription();
    } catch (error) {
      this.#fail("No offer could be made", error);
    } finally {
      this.#isOffering = false;
    }
  }

  async #takeDescription(description: { readonly type: "offer" | "answer"; readonly sdp: string }): Promise<void> {
    const connection = this.#connection;
    const isReady = !this.#isOffering && (connection.signalingState === "stable" || this.#isTakingAnswer);
    this.#isIgnoringOffer = !this.#options.isPolite && description.type === "offer" && !isReady;
    if (this.#isIgnoringOffer) return;
    if (description.type === "offer") this.#session ??= sessionOf(description.sdp);
    const sections = description.sdp.match(/^m=/gm)?.length ?? 0;
    if (sections > mostMediaSections) throw new Error(`it has ${sections} media sections, and this page takes ${mostMediaSections}`);
    this.#isTakingAnswer = description.type === "answer";
    try {
      await connection.setRemoteDescription(description);
    } finally {
      this.#isTakingAnswer = false;
    }
    this.#session ??= sessionOf(description.sdp);
    this.#problem = undefined;
    for (const candidate of this.#early.splice(0)) await connection.addIceCandidate(candidate);
    if (description.type === "answer") return;
    this.#addTracks();
    await connection.setLocalDescription();
    this.#sendDescription();
  }

  async #takeCandidate(candidate: RTCIceCandidateInit): Promise<void> {
    if (this.#connection.remoteDescription) await this.#connection.addIceCandidate(candidate);
    else if (this.#early.length < mostEarlyCandidates) this.#early.push(candidate);
  }

  #sendDescription(): void {
    const description = this.#connection.localDescription;
    if (description && (description.type === "offer" || description.type === "answer"))
      this.#options.send({ type: description.type, sdp: description.sdp });
  }

  #addTracks(): void {
    const { tracks } = this.#options;
    if (!tracks || this.#connection.getSenders().some(({ track }) => track !== null)) return;
    for (const track of tracks.getTracks()) this.#connection.addTrack(track, tracks);
  }

  #use(channel: RTCDataChannel): void {
    this.#channels++;
    this.#channel = channel;
    channel.onmessage = ({ data }) => {
      if (this.#isTooMuch(sizeOf(data))) {
        this.#end("The other end sent more over the data channel than this page takes.");
        return;
      }
      const [, kind, number] = (typeof data === "string" && /^(ping|pong) (\d{1,15})$/.exec(data)) || [];
      if (kind === "ping") this.#say(channel, `pong ${number}`);
      // Each ping has one answer.
      if (kind !== "pong" || this.#pingSentAt?.number !== Number(number)) return;
      this.#pingMs = performance.now() - this.#pingSentAt.atMs;
      this.#pingSentAt = undefined;
      this.#pings++;
      this.#changed();
    };
  }

  /** Unless the other end does not read. */
  #say(channel: RTCDataChannel, text: string): void {
    if (channel.readyState === "open" && channel.bufferedAmount < mostUnsentPongs) channel.send(text);
  }

  #isTooMuch(bytes: number): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#received.sinceMs >= 1_000) this.#received = { sinceMs: nowMs, messages: 0, bytes: 0 };
    this.#received.messages++;
    this.#received.bytes += bytes;
    return this.#received.messages > mostMessagesPerSecond || this.#received.bytes > mostBytesPerSecond;
  }

  async #eachSecond(): Promise<void> {
    if (this.#channel?.readyState === "open") {
      this.#pingSentAt = { number: this.#nextPing++, atMs: performance.now() };
      this.#say(this.#channel, `ping ${this.#pingSentAt.number}`);
    }
    if (this.#isReadingReport) return;
    this.#isReadingReport = true;
    const stats = await this.#connection.getStats();
    this.#isReadingReport = false;
    if (this.#isClosed) return;
    this.#report = readReport(stats, this.#report);
    this.#changed();
  }

  #fail(what: string, error: unknown): void {
    if (this.#isClosed) return;
    this.#problem = `${what}: ${error instanceof Error ? error.message : String(error)}`.slice(0, longestProblem);
    this.#changed();
  }

  #end(problem: string): void {
    if (this.#isClosed) return;
    this.#problem = `${problem} This page has ended the call.`;
    this.close();
    this.#options.onChange();
  }

  #changed(): void {
    if (!this.#isClosed) this.#options.onChange();
  }

  get state(): CallState {
    const { connectionState, iceConnectionState, iceGatheringState, signalingState } = this.#connection;
    return {
      ...{ connection: connectionState, ice: iceConnectionState, gathering: iceGatheringState, signalling: signalingState },
      stream: this.#stream.getTracks().length > 0 ? this.#stream : undefined,
      ...{ report: this.#report, pingMs: this.#pingMs, pings: this.#pings },
      ...{ candidateProblems: this.#candidateProblems, problem: this.#problem },
    };
  }
}

const sizeOf = (data: unknown): number =>
  typeof data === "string" ? data.length : data instanceof ArrayBuffer ? data.byteLength : data instanceof Blob ? data.size : 0;

/** RFC 8829 §5.2.1: name and number of the session in the line of the origin stay the same for a connection. */
const sessionOf = (sdp: string): string => /^o=(\S+ \S+)/m.exec(sdp)?.[1] ?? "";
