import type { IceServer } from "../../../contract/services/webrtc.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { ChatLimits } from "./chat-history.ts";
import type { Peer } from "./peer.ts";
import type { PasswordFailures, RoomLimits } from "./room-access.ts";
import type { SignalPath } from "./signal-path.ts";
import type { SignallingObserver } from "./signalling-observer.ts";
import type { UnsentLimits } from "./unsent-bytes.ts";

export interface HubLimits extends ChatLimits, RoomLimits, UnsentLimits {
  /** Connected at the same time. */
  readonly peers: number;
}

export interface HubOptions {
  readonly limits: HubLimits;
  readonly observer: SignallingObserver;
  readonly failures: PasswordFailures;
  /** For the welcome of a peer. */
  readonly iceServers: (peer: Peer) => readonly IceServer[];
  readonly turns?: WorkTurns;
  /** Between the hub and the clients: what a tester has asked for happens here. */
  readonly path?: SignalPath;
}
