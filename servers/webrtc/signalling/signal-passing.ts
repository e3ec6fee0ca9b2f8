import { memoryOf } from "../../core/limits/json-limits.ts";
import { resultOf } from "../../core/turns/work-connection.ts";
import { HeldDeliveries, type LossReason } from "./held-deliveries.ts";
import type { Peer } from "./peer.ts";
import type { Room } from "./room.ts";
import type { RoomBroadcasts } from "./room-broadcasts.ts";
import type { SignalPath } from "./signal-path.ts";
import type { DeliveryEffect, SignalEvent } from "./signalling-event.ts";
import type { SignalFact } from "./signalling-observer.ts";

export type PassedSignals = Pick<SignalFact, "deliveries" | "effects" | "held" | "isElsewhere">;

/** Signals on their way through what a tester has asked for. */
export class SignalPassing {
  readonly #path: SignalPath;
  readonly #broadcasts: RoomBroadcasts;
  /** Those of other instances, one after the other. */
  #ofElsewhere: Promise<void> = Promise.resolve();

  constructor(path: SignalPath, broadcasts: RoomBroadcasts) {
    this.#path = path;
    this.#broadcasts = broadcasts;
  }

  get isClear(): boolean {
    return this.#path.isClear;
  }

  /** To one peer; within a room in the order of what else is for its members. */
  toOne(receiver: Peer, event: SignalEvent, room?: Room): PassedSignals {
    return { ...resultOf(this.#steps([receiver], event, room, undefined)), isElsewhere: receiver.isElsewhere };
  }

  /** A peer of another instance has left, of which the faults are not told otherwise. */
  forget(peer: string): void {
    this.#path.forget(peer);
  }

  /** To many, in the turns of the sender, which is read no further until all have been looked at. */
  toMany(receivers: readonly Peer[], event: SignalEvent, room: Room, sender: Peer, whenPassed: (passed: PassedSignals) => void): void {
    const steps = this.#steps(receivers, event, room, sender);
    let isOver = false;
    function* all(): Generator<void, void> {
      const passed = yield* steps;
      isOver = true;
      whenPassed(passed);
    }
    const passing = this.#broadcasts.workOf(sender).run(all());
    if (isOver) return;
    const { link } = sender.facts;
    link.hold();
    void passing.finally(() => link.release());
  }

  /** To those that are connected here, from a peer of another instance. */
  toManyHere(receivers: readonly Peer[], event: SignalEvent, room: Room): void {
    const pass = async () => void (await this.#broadcasts.workOf(undefined).run(this.#steps(receivers, event, room, undefined)));
    this.#ofElsewhere = this.#ofElsewhere.then(pass);
  }

  *#steps(
    receivers: readonly Peer[],
    event: SignalEvent,
    room: Room | undefined,
    sender: Peer | undefined,
  ): Generator<void, PassedSignals> {
    const { from, signal } = event;
    const bytes = () => memoryOf(signal.payload);
    const effects: DeliveryEffect[] = [];
    let deliveries = 0;
    let held: HeldDeliveries | undefined;
    for (const receiver of receivers) {
      if (this.#broadcasts.isClosed) break;
      if (!receiver.isConnected) continue;
      let isSettled = false;
      let waitsIn: HeldDeliveries | undefined;
      const settle = (loss?: LossReason) => {
        if (isSettled) return;
        isSettled = true;
        waitsIn?.settle(loss);
      };
      const arrive = () => {
        if (!receiver.isConnected) return settle("receiver left");
        if (room && !receiver.isElsewhere) this.#broadcasts.tell(room, event, { sender, to: [receiver] });
        else this.#broadcasts.send(receiver, event);
        settle();
      };
      const done = this.#path.pass({ from, to: receiver.id, kind: signal.kind, bytes }, arrive, settle);
      effects.push(...done);
      if (!done.includes("dropped")) {
        deliveries++;
        if (!isSettled) {
          held ??= new HeldDeliveries();
          held.hold();
          waitsIn = held;
        }
      }
      yield;
    }
    return { deliveries, effects, held };
  }
}
