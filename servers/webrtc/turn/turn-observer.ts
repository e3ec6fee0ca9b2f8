import type { ClientTransport, DataCount, LostData } from "./allocation.ts";
import type { CloseReason } from "./allocation-table.ts";
import type { Impairment } from "./impairment.ts";

export interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

export type RequestMethod = "binding" | "allocate" | "refresh" | "create permission" | "channel bind";

export interface AnsweredRequest {
  readonly client: SocketAddress & { readonly transport: ClientTransport };
  readonly method: RequestMethod;
  /** 0 for success, else the error code. */
  readonly code: number;
  /** Of a refusal, in words. */
  readonly why: string | undefined;
  /** As the client wrote it, right or wrong. */
  readonly username: string | undefined;
  readonly software: string | undefined;
  readonly allocation: number | undefined;
}

/** Why a request was refused for a fault on demand alone. */
export const faultReasons = { refused: "allocations are refused on request", rejected: "credentials are rejected on request" } as const;
export const isFaultReason = (why: string | undefined): boolean => why === faultReasons.refused || why === faultReasons.rejected;

/** A request and how it was answered; a repeated one that gets the same answer is not named again. */
export interface TurnRequestEvent extends AnsweredRequest {
  /** The whole messages, valid during the call. The answer is absent where none was sent. */
  readonly request: Buffer;
  readonly answer: Buffer | undefined;
}

/** An allocation as it stands now. While it is open, its lists are made when they are read: there may be hundreds of it, with hundreds of entries each. */
export interface AllocationState {
  readonly id: number;
  readonly client: SocketAddress & { readonly transport: ClientTransport };
  readonly username: string;
  readonly user: string;
  readonly software: string | undefined;
  /** One for each family. */
  readonly relayed: readonly SocketAddress[];
  readonly ageMs: number;
  readonly leftMs: number;
  /** Another one whenever there are other permissions or channels. */
  readonly revision: number;
  readonly permissions: readonly { readonly address: string; readonly leftMs: number }[];
  readonly channels: readonly (SocketAddress & { readonly number: number; readonly leftMs: number })[];
  readonly toPeers: Readonly<DataCount>;
  readonly fromPeers: Readonly<DataCount>;
  readonly lost: Readonly<LostData>;
  readonly impairment: Impairment;
}

/** Of a connection over TLS that became none. */
export interface FailedHandshake {
  /** "127.0.0.1:53110" */
  readonly peer: string;
  readonly why: string;
  /** The client ended it when it had seen the certificate. */
  readonly isDistrust: boolean;
}

/** What a recorder is told. Nothing is called for data that is relayed. */
export interface TurnObserver {
  onRequest(event: TurnRequestEvent): void;
  onOpened(allocation: AllocationState): void;
  onClosed(allocation: AllocationState, reason: CloseReason): void;
  onHandshakeFailed?(handshake: FailedHandshake): void;
}

/** All of them are told; each may leave out what it is not interested in. */
export const joinObservers = (...observers: readonly Partial<TurnObserver>[]): TurnObserver => ({
  onRequest(event) {
    for (const observer of observers) observer.onRequest?.(event);
  },
  onOpened(allocation) {
    for (const observer of observers) observer.onOpened?.(allocation);
  },
  onClosed(allocation, reason) {
    for (const observer of observers) observer.onClosed?.(allocation, reason);
  },
  onHandshakeFailed(handshake) {
    for (const observer of observers) observer.onHandshakeFailed?.(handshake);
  },
});

/** Trouble that a tester asks for, by the user of a request. */
export interface TurnTrouble {
  /** The error code that new allocations get; undefined where they are allowed. */
  readonly refuseAllocations?: (user: string) => number | undefined;
  /** Whether right credentials are treated as wrong. */
  readonly rejectCredentials?: (user: string) => boolean;
}

/** Since the start. */
export interface TurnStatistics {
  readonly allocations: number;
  readonly reserved: number;
  readonly connections: number;
  readonly connectionsRefused: number;
  readonly opened: number;
  /** Requests by method, and error responses by code; without 401 to requests that have no credentials. */
  readonly requests: Readonly<Record<RequestMethod, number>>;
  readonly errors: Readonly<Record<number, number>>;
  /** Requests that were repeated and got the same answer. */
  readonly repeated: number;
  /** What is neither STUN nor ChannelData, or has wrong lengths or a wrong fingerprint. */
  readonly malformed: number;
  /** ChannelData and Send indications of those without an allocation. */
  readonly withoutAllocation: number;
  /** Datagrams of relays to this server. */
  readonly fromRelays: number;
  readonly toPeers: Readonly<DataCount>;
  readonly fromPeers: Readonly<DataCount>;
}
