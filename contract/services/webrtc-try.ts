/** Two peers of the page that call one another through the service. Their connections are the browser's; the service has their signalling. */
import { z } from "zod";
import { operation } from "../operation.ts";

export interface TryPeer {
  readonly id: string;
  readonly name: string;
  /** Of its welcome, as `RTCIceServer` of a browser. */
  readonly iceServers: readonly { readonly urls: readonly string[]; readonly username?: string; readonly credential?: string }[];
  /** Since the start. */
  readonly welcomedMs: number;
  readonly joinedMs: number;
}

export interface TryOpened {
  readonly call: number;
  readonly room: string;
  /** "ws://127.0.0.1:8443/ws" */
  readonly url: string;
  readonly peers: readonly [TryPeer, TryPeer];
}

/** A message that the service sent to one of them. */
export interface TryReceived {
  /** 0 or 1 */
  readonly peer: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
}

export interface TryRead {
  readonly messages: readonly TryReceived[];
  /** For the next read. */
  readonly next: number;
  /** Why there will be no more; with the last ones. */
  readonly ended?: string;
}

/** A call that nobody reads any more ends after this time. */
export const tryIdleMs = 20_000;
export const longestTryMessage = 65_536;
const call = z.int().min(1);

export const webrtcTryActions = {
  /** Connects two clients to the service at /ws, and lets them join a room of their own. The call before is ended. */
  "try.open": operation<TryOpened>()(z.strictObject({})),
  "try.send": operation<null>()(z.strictObject({ call, peer: z.int().min(0).max(1), text: z.string().min(2).max(longestTryMessage) })),
  /** The messages from this index on, as many as fit in an answer; waits a little where there is none. */
  "try.read": operation<TryRead>()(z.strictObject({ call, from: z.int().min(0) })),
  "try.close": operation<null>()(z.strictObject({ call })),
};
