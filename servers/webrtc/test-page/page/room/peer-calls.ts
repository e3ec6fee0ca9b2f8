import { createGatheredStore, type GatheredStore, type ReadableStore } from "../../../../../renderer/src/control/frame-store.ts";
import { Allowance } from "./allowance.ts";
import { type CallMessage, type CallState, PeerCall } from "./peer-call.ts";
import { SignalInbox, WaitingText } from "./signal-inbox.ts";
import type { OtherPeer } from "./signalling-messages.ts";

export interface ShownPeer extends OtherPeer {
  /** Undefined before one of both has called. */
  readonly call: CallState | undefined;
  /** Its call waits for a free place. */
  readonly isCalling: boolean;
  /** Signals that came too fast to be handled. */
  readonly leftOut: number;
  /** Why the browser opens no call. */
  readonly problem: string | undefined;
}

export interface PeersView {
  /** All in the room but this page; the same list until one comes or leaves. */
  readonly members: readonly OtherPeer[];
  /** Shown with their pictures: those with a call, and in a room in which there is a place for each, all. */
  readonly cards: readonly ShownPeer[];
  /** Those without a call in a room with more peers than this page calls by itself; those that call first. */
  readonly others: readonly ShownPeer[];
}

export interface PeerCallsOptions {
  /** Most calls that are opened without the user. */
  readonly limit: number;
  readonly configuration: () => RTCConfiguration;
  readonly isPolite: (id: string) => boolean;
  readonly send: (to: string, message: CallMessage) => void;
  readonly nextFrame: (run: () => void) => void;
}

interface Member extends OtherPeer {
  readonly inbox: SignalInbox;
  call: PeerCall | undefined;
  problem: string | undefined;
  /** Runs when the next signal may be handled. */
  timer: number | undefined;
  /** Undefined after a change. */
  shown: ShownPeer | undefined;
}

/** SDP of some 10 kB and a few candidates, of each of a thousand peers. */
const mostWaitingCharacters = 16 << 20;
/** Peers that come and leave again and again cannot have new connections made without end. */
const openingsPerSecond = 2;
const leastOpenings = 10;

/** The calls with the others in a room: each has its own pace, and no more are opened by themselves than the browser bears. */
export class PeerCalls {
  readonly #options: PeerCallsOptions;
  readonly #store: GatheredStore<PeersView>;
  readonly #members = new Map<string, Member>();
  readonly #text = new WaitingText(mostWaitingCharacters);
  /** Those whose next step opens a connection, in their order. */
  readonly #opening = new Set<Member>();
  #openings: Allowance;
  #openTimer: number | undefined;
  #media: MediaStream | undefined;
  #open = 0;
  #list: readonly OtherPeer[] = [];
  #isListed = true;

  constructor(options: PeerCallsOptions) {
    this.#options = options;
    this.#openings = this.#freshOpenings();
    this.#store = createGatheredStore(() => this.#read(), options.nextFrame);
  }

  get shown(): ReadableStore<PeersView> {
    return this.#store;
  }

  get limit(): number {
    return this.#options.limit;
  }

  nameOf(id: string): string | undefined {
    return this.#members.get(id)?.name;
  }

  add({ id, name }: OtherPeer): void {
    this.remove(id);
    const inbox = new SignalInbox(this.#text);
    this.#members.set(id, { id, name, inbox, ...{ call: undefined, problem: undefined, timer: undefined, shown: undefined } });
    this.#listed();
  }

  remove(id: string): void {
    const member = this.#members.get(id);
    if (!member) return;
    this.#members.delete(id);
    this.#opening.delete(member);
    clearTimeout(member.timer);
    member.inbox.clear();
    this.#close(member);
    this.#listed();
    this.#openLater();
  }

  clear(): void {
    for (const id of [...this.#members.keys()]) this.remove(id);
    clearTimeout(this.#openTimer);
    this.#openTimer = undefined;
    this.#openings = this.#freshOpenings();
  }

  /** As many as there are places for. */
  callAll(): void {
    for (const member of this.#members.values()) {
      if (this.#opening.size >= this.limit) break;
      this.#opening.add(member);
    }
    this.#openLater();
  }

  /** As the user wants it, whatever the limit is: answers, or calls, again if there was a call. */
  call(id: string): void {
    const member = this.#members.get(id);
    if (member && !member.call?.isBeginning) this.#begin(member);
  }

  receive(from: string, message: CallMessage): void {
    const member = this.#members.get(from);
    if (!member) return;
    const { inbox } = member;
    const before = inbox.leftOut;
    inbox.add(message, this.#opening.has(member));
    if (inbox.leftOut !== before) this.#changed(member);
    // What waits is handled in its time.
    if (member.timer === undefined && !this.#opening.has(member)) this.#handle(member);
  }

  async setMedia(media: MediaStream): Promise<void> {
    this.#media = media;
    for (const { call } of this.#members.values()) await call?.send(media);
  }

  restart(): void {
    for (const { call } of this.#members.values()) call?.restart(this.#options.configuration());
  }

  #handle(member: Member): void {
    const { inbox } = member;
    for (let next = inbox.next; next; next = inbox.next) {
      if (isForAnotherConnection(member.call, next)) {
        if (next.type === "answer") inbox.clear();
        else {
          this.#opening.add(member);
          this.#changed(member);
          this.#openLater();
        }
        return;
      }
      const { waitMs } = inbox;
      if (waitMs > 0) {
        member.timer = window.setTimeout(() => {
          member.timer = undefined;
          this.#handle(member);
        }, waitMs);
        return;
      }
      const message = inbox.take();
      if (message) void member.call?.receive(message);
    }
  }

  #hasPlace({ call }: Member): boolean {
    return call !== undefined || this.#open < this.limit;
  }

  /** One connection in each turn: the browser needs some milliseconds for it. */
  #openLater(): void {
    if (this.#openTimer !== undefined) return;
    const member = this.#firstWithPlace();
    if (!member) return;
    this.#openTimer = window.setTimeout(() => {
      this.#openTimer = undefined;
      if (this.#opening.has(member) && this.#hasPlace(member) && this.#openings.take()) this.#begin(member);
      this.#openLater();
    }, this.#openings.waitMs);
  }

  #firstWithPlace(): Member | undefined {
    for (const member of this.#opening) if (this.#hasPlace(member)) return member;
    return undefined;
  }

  /** Answers what waits of the peer, or calls it. */
  #begin(member: Member): void {
    this.#opening.delete(member);
    clearTimeout(member.timer);
    member.timer = undefined;
    this.#close(member);
    member.problem = undefined;
    this.#changed(member);
    const call = this.#newCall(member);
    const waiting = member.inbox.next?.type;
    if (call && (waiting === "offer" || waiting === "candidate")) {
      this.#handle(member);
      return;
    }
    member.inbox.clear();
    call?.begin();
  }

  #newCall(member: Member): PeerCall | undefined {
    const { id } = member;
    try {
      member.call = new PeerCall({
        configuration: this.#options.configuration(),
        isPolite: this.#options.isPolite(id),
        tracks: this.#media,
        send: (message) => this.#options.send(id, message),
        onChange: () => this.#changed(member),
      });
      this.#open++;
    } catch (error) {
      // Browsers open some hundreds at most, and count those that are closed for a while.
      member.problem = `The browser opens no further call: ${error instanceof Error ? error.message : String(error)}`;
    }
    return member.call;
  }

  #close(member: Member): void {
    if (!member.call) return;
    member.call.close();
    member.call = undefined;
    this.#open--;
  }

  #freshOpenings(): Allowance {
    return new Allowance({ atOnce: Math.max(leastOpenings, this.limit), perSecond: openingsPerSecond });
  }

  #changed(member: Member): void {
    member.shown = undefined;
    this.#store.changed();
  }

  #listed(): void {
    this.#isListed = false;
    this.#store.changed();
  }

  #read(): PeersView {
    if (!this.#isListed) this.#list = [...this.#members.values()].map(({ id, name }) => ({ id, name }));
    this.#isListed = true;
    const hasPlaces = this.#members.size <= this.limit;
    const cards: ShownPeer[] = [];
    const calling: ShownPeer[] = [];
    const silent: ShownPeer[] = [];
    for (const member of this.#members.values()) {
      member.shown ??= this.#show(member);
      const to = hasPlaces || member.call ? cards : member.shown.isCalling ? calling : silent;
      to.push(member.shown);
    }
    return { members: this.#list, cards, others: [...calling, ...silent] };
  }

  #show({ id, name, inbox, call, problem }: Member): ShownPeer {
    return { id, name, call: call?.state, isCalling: !call && inbox.next !== undefined, leftOut: inbox.leftOut, problem };
  }
}

/** Of a peer without a call, or of one whose end has begun anew. */
const isForAnotherConnection = (call: PeerCall | undefined, message: CallMessage): boolean =>
  !call || (message.type === "offer" && call.isWithAnother(message.sdp));
