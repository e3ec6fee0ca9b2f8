import type { TurnAllocationHistory, TurnAllocationView } from "../../../contract/services/webrtc.ts";
import type { Tone } from "../../../contract/traffic/row.ts";
import { notQueued, type TrafficEntry } from "../../core/service/service.ts";
import { RecentSamples } from "../../core/traffic/recent-samples.ts";
import type { RecordWriter } from "../../core/traffic/record-writer.ts";
import type { AllocationState, SocketAddress } from "../turn/turn-observer.ts";
import { allocationTag, turnTransports } from "./turn-records.ts";

const leastStateMs = 5_000;
const rowTextLength = 300;

/** "127.0.0.1:49160", "[::1]:49160" */
export const socketText = ({ address, port }: SocketAddress): string =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;

export const lostOf = ({ lost }: Pick<AllocationState, "lost">): number =>
  lost.notPermitted + lost.withoutChannel + lost.impaired + lost.clientBehind + lost.unsendable;

/** The row of an allocation, from its opening to its end, and its figures of the last two minutes. */
export class AllocationEntry implements TrafficEntry {
  queueSlot = notQueued;
  isAnnounced = false;
  readonly id: number;
  readonly #openedAt = Date.now();
  readonly #nameOf: (user: string) => string | undefined;
  /** The last one that was known: an allocation may outlive its peer. */
  #peerName: string | undefined;
  readonly #samples = new RecentSamples(["toPeers", "fromPeers", "lost"]);
  #state: AllocationState;
  #sampledMs = performance.now();
  #end: { readonly text: string; readonly tone: Tone } | undefined;
  #wroteHead = false;
  #isStateNew = true;
  #wroteStateMs = 0;

  constructor(id: number, state: AllocationState, nameOf: (user: string) => string | undefined) {
    this.id = id;
    this.#state = state;
    this.#nameOf = nameOf;
    this.#peerName = nameOf(state.user);
  }

  get open(): boolean {
    return this.#end === undefined;
  }

  get heldBytes(): number {
    return 1_000;
  }

  get history(): TurnAllocationHistory {
    return this.#samples.read();
  }

  /** Once a second. */
  update(state: AllocationState, nowMs: number): void {
    const before = this.#state;
    const seconds = Math.max(0.1, (nowMs - this.#sampledMs) / 1_000);
    this.#sampledMs = nowMs;
    const bits = (which: "toPeers" | "fromPeers") => ((state[which].bytes - before[which].bytes) * 8) / seconds;
    const lost = (lostOf(state) - lostOf(before)) / seconds;
    this.#samples.add(Math.round(Date.now() / 1_000), { toPeers: bits("toPeers"), fromPeers: bits("fromPeers"), lost });
    this.#isStateNew ||= before.revision !== state.revision;
    this.#state = state;
  }

  end(state: AllocationState, text: string, tone: Tone): void {
    this.#state = state;
    this.#isStateNew = true;
    this.#end = { text, tone };
  }

  view(): TurnAllocationView {
    const { id, user, username, client, software, relayed, leftMs, permissions, channels, toPeers, fromPeers, lost, impairment } =
      this.#state;
    return {
      id,
      row: this.id,
      user,
      username,
      transport: client.transport,
      remote: socketText(client),
      ...(software !== undefined && { software }),
      relayed: relayed.map(socketText),
      since: this.#openedAt,
      leftMs,
      permissions,
      toPeers,
      fromPeers,
      lost,
      impairment,
      channels: channels.map((channel) => ({ number: channel.number, peer: socketText(channel), leftMs: channel.leftMs })),
    };
  }

  write(record: RecordWriter): void {
    const { user, client, software, relayed, toPeers, fromPeers, ageMs } = this.#state;
    this.#peerName = this.#nameOf(user) ?? this.#peerName;
    record.row({
      id: this.id,
      at: this.#openedAt,
      kind: "turn-allocation",
      verb: "relay",
      target: relayed.map(socketText).join(", "),
      tone: this.#end?.tone ?? "pending",
      outcome: this.#end?.text ?? "open",
      tookMs: this.#end && Math.round(ageMs),
      bytesIn: toPeers.bytes,
      bytesOut: fromPeers.bytes,
      client: software?.slice(0, rowTextLength) ?? "",
      peer: socketText(client),
      preview: `over ${client.transport.toUpperCase()}`,
      user: user.slice(0, rowTextLength),
      peerName: this.#peerName,
    });
    if (!this.#wroteHead) this.#writeHead(record);
    // What is written stays with the row: counts of a long allocation are written in steps that grow with it.
    const nowMs = performance.now();
    if (!this.#isStateNew && nowMs - this.#wroteStateMs <= Math.max(leastStateMs, ageMs / 20)) return;
    this.#isStateNew = false;
    this.#wroteStateMs = nowMs;
    this.#writeState(record);
  }

  #writeHead(record: RecordWriter): void {
    this.#wroteHead = true;
    const { id, client, user, username, software } = this.#state;
    record.u8(allocationTag.head);
    record.u8(turnTransports.indexOf(client.transport));
    record.f64(id);
    record.text(user);
    record.text(username);
    record.text(software ?? "");
  }

  #writeState(record: RecordWriter): void {
    const { relayed, permissions, channels, toPeers, fromPeers, ageMs } = this.#state;
    record.u8(allocationTag.state);
    record.u32(relayed.length);
    for (const address of relayed) record.text(socketText(address));
    record.u32(permissions.length);
    for (const { address } of permissions) record.text(address);
    record.u32(channels.length);
    for (const channel of channels) {
      record.u32(channel.number);
      record.text(socketText(channel));
    }
    for (const count of [toPeers.datagrams, toPeers.bytes, fromPeers.datagrams, fromPeers.bytes, lostOf(this.#state)]) record.f64(count);
    record.text(this.#end?.text ?? "");
    record.f64(this.#end ? ageMs : Number.NaN);
  }
}
