import { isDeepStrictEqual } from "node:util";
import type { Handlers } from "../../../contract/operation.ts";
import type {
  PeerFault,
  RelayFault,
  TurnFault,
  WebrtcActiveFault,
  WebrtcFaultViews,
  webrtcFaultActions,
} from "../../../contract/services/webrtc-faults.ts";
import { type ActiveFault, FaultRegistry, type FaultStart } from "../../core/faults/fault-registry.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { type Impairment, noImpairment } from "../turn/impairment.ts";
import type { TurnEngine } from "../turn/turn-engine.ts";
import type { AllocationState } from "../turn/turn-observer.ts";
import { SignalFaults } from "./signal-faults.ts";

export interface WebrtcFaultsOptions {
  /** Undefined where TURN is off. */
  readonly turn: Pick<TurnEngine, "impair" | "allocations" | "trouble"> | undefined;
  /** "elsewhere": connected to another instance. Undefined where there is no such peer. */
  readonly placeOf: (peer: string) => "here" | "elsewhere" | undefined;
  /** Signals held back at the same time. */
  readonly mostHeldBytes: number;
  /** Of all clients. */
  readonly turns: WorkTurns;
  readonly show: (view: WebrtcFaultViews["faults"]) => void;
  readonly onStop: (release: () => void) => void;
}

/** The page shows so many targets. */
const mostShown = 200;
const everybody = "all";

/** What goes wrong on demand: of signals, of relays, of TURN. */
export class WebrtcFaults {
  readonly signals: SignalFaults;
  readonly peers = new FaultRegistry<string, PeerFault>();
  readonly relays = new FaultRegistry<number, RelayFault>();
  readonly turn = new FaultRegistry<typeof everybody, TurnFault>();
  readonly #options: WebrtcFaultsOptions;
  readonly #impaired = new Map<number, Impairment>();

  constructor(options: WebrtcFaultsOptions) {
    this.#options = options;
    this.signals = new SignalFaults({ faults: this.peers, mostHeldBytes: options.mostHeldBytes, work: options.turns.connection("") });
    if (options.turn)
      options.turn.trouble = {
        // Time-limited credentials of a welcome have the identifier of its peer as their user.
        refuseAllocations: (user) => this.#turnFaultOf(user, "refuse")?.code,
        rejectCredentials: (user) => this.#turnFaultOf(user, "credentials") !== undefined,
      };
    // A fault that takes the place of another one ends that first.
    const changed = new Set<string>();
    this.peers.onTarget((peer) => changed.add(peer));
    this.peers.onChange(() => {
      this.signals.refresh([...changed]);
      changed.clear();
      this.#show();
    });
    this.relays.onTarget((allocation) => this.#impair(allocation));
    this.relays.onChange(() => this.#show());
    this.turn.onChange(() => this.#show());
    options.onStop(() => {
      for (const registry of [this.peers, this.relays, this.turn]) registry.stopAll();
      this.signals.stop();
    });
    this.#show();
  }

  /** False where there is no such peer; so below. Throws CALL_INVALID for a peer of another instance, which has its signals and its TURN. */
  startOnPeer(peer: string, start: FaultStart<PeerFault>): boolean {
    const place = this.#options.placeOf(peer);
    if (place === "elsewhere")
      throw new ServiceError("CALL_INVALID", "The peer is connected to another instance", "Start its faults at that instance.");
    if (place === undefined) return false;
    this.peers.start(peer, start);
    return true;
  }

  startOnRelay(allocation: number, start: FaultStart<RelayFault>): boolean {
    if (!this.#allocations().some(({ id }) => id === allocation)) return false;
    this.relays.start(allocation, start);
    return true;
  }

  /** The allocation that peers see at this address: "127.0.0.1:49160". */
  allocationAt(relayed: string): number | undefined {
    return this.#allocations().find((one) => one.relayed.some(({ address, port }) => relayed === textOf(address, port)))?.id;
  }

  /** False where TURN is off. */
  startOnTurn(start: FaultStart<TurnFault>): boolean {
    if (!this.#options.turn) return false;
    this.turn.start(everybody, start);
    return true;
  }

  stopTurn(kind?: TurnFault["kind"]): boolean {
    return this.turn.stop(everybody, kind);
  }

  stopAll(): void {
    this.peers.stopAll();
    this.relays.stopAll();
    this.turn.stopAll();
  }

  /** A peer has left: its faults end, and what is held of it is never delivered. */
  peerLeft(peer: string): void {
    this.signals.forget(peer);
    this.peers.stop(peer);
  }

  relayClosed(allocation: number): void {
    this.#impaired.delete(allocation);
    this.relays.stop(allocation);
  }

  view(): WebrtcFaultViews["faults"] {
    return {
      peers: this.peers.list(mostShown).map(({ target, faults }) => ({ peer: target, faults: shown(faults) })),
      relays: this.relays.list(mostShown).map(({ target, faults }) => ({ allocation: target, faults: shown(faults) })),
      turn: shown(this.turn.listOf(everybody)),
    };
  }

  actions(): Handlers<typeof webrtcFaultActions> {
    return {
      "peer.fault": ({ peer, ...start }) => ({ started: this.startOnPeer(peer, start) }),
      "relay.fault": ({ allocation, ...start }) => ({ started: this.startOnRelay(allocation, start) }),
      "turn.fault": (start) => ({ started: this.startOnTurn(start) }),
      "peer.release": ({ peer, kind }) => ({ released: this.peers.stop(peer, kind) }),
      "relay.release": ({ allocation, kind }) => ({ released: this.relays.stop(allocation, kind) }),
      "turn.release": ({ kind }) => ({ released: this.stopTurn(kind) }),
    };
  }

  #allocations(): readonly AllocationState[] {
    return this.#options.turn?.allocations() ?? [];
  }

  /** The peer's own counts before that of all. */
  #turnFaultOf<Kind extends TurnFault["kind"]>(user: string, kind: Kind): Extract<TurnFault, { kind: Kind }> | undefined {
    const all = [...this.peers.listOf(user), ...this.turn.listOf(everybody)];
    return all.find(({ fault }) => fault.kind === kind)?.fault as Extract<TurnFault, { kind: Kind }> | undefined;
  }

  /** What the others delay stays. */
  #impair(allocation: number): void {
    const { turn } = this.#options;
    const impairment = impairmentOf(this.relays.listOf(allocation));
    if (isDeepStrictEqual(this.#impaired.get(allocation) ?? noImpairment, impairment)) return;
    if (impairment === noImpairment) this.#impaired.delete(allocation);
    if (turn?.impair(allocation, impairment) && impairment !== noImpairment) this.#impaired.set(allocation, impairment);
  }

  #show(): void {
    this.#options.show(this.view());
  }
}

function impairmentOf(faults: readonly ActiveFault<RelayFault>[]): Impairment {
  let impairment = noImpairment;
  for (const { fault } of faults) {
    switch (fault.kind) {
      case "cut":
        impairment = { ...impairment, isCut: true };
        break;
      case "loss":
        impairment = { ...impairment, loss: fault.percent / 100 };
        break;
      case "delay":
        impairment = { ...impairment, delayMs: fault.delayMs };
        break;
      default:
        fault satisfies never;
    }
  }
  return impairment;
}

const textOf = (address: string, port: number): string => `${address.includes(":") ? `[${address}]` : address}:${port}`;

const shown = <Fault>(faults: readonly ActiveFault<Fault>[]): readonly WebrtcActiveFault<Fault>[] =>
  faults.map(({ fault, until }) => ({ fault, ...(Number.isFinite(until) && { until }) }));
