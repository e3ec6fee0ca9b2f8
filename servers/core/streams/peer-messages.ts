/** Calls and streams from one service to another, as they pass through the supervisor. Ids are the consumer's or the supervisor's. */
import type { StreamCredit, StreamItem } from "../../../contract/provided.ts";
import type { Failure, ServiceId } from "../../../contract/service.ts";

interface PeerRequest {
  readonly id: number;
  readonly name: string;
  readonly params: unknown;
}

export type ConsumerMessage =
  | (PeerRequest & { readonly type: "peerCall"; readonly service: ServiceId })
  | (PeerRequest & { readonly type: "peerOpen"; readonly service: ServiceId; readonly credit: StreamCredit })
  /** The reader consumed this much; the sender gets it back as credit. */
  | { readonly type: "peerTaken"; readonly id: number; readonly credit: StreamCredit }
  | { readonly type: "peerCancel"; readonly id: number };

export type ToConsumer =
  | { readonly type: "peerResult"; readonly id: number; readonly value: unknown }
  | { readonly type: "peerItem"; readonly id: number; readonly item: StreamItem }
  /** A call failed, or a stream ended; without a failure the stream is complete. */
  | { readonly type: "peerEnd"; readonly id: number; readonly failure?: Failure };

export type ToProvider =
  | (PeerRequest & { readonly type: "serveCall"; readonly consumer: ServiceId })
  | (PeerRequest & { readonly type: "serveOpen"; readonly consumer: ServiceId; readonly credit: StreamCredit })
  | { readonly type: "serveTaken"; readonly id: number; readonly credit: StreamCredit }
  | { readonly type: "serveCancel"; readonly id: number };

export type ProviderMessage =
  | { readonly type: "servedResult"; readonly id: number; readonly value: unknown }
  | { readonly type: "servedItem"; readonly id: number; readonly item: StreamItem }
  | { readonly type: "servedEnd"; readonly id: number; readonly failure?: Failure };

export const bytesOf = (item: StreamItem): number => item.payload?.byteLength ?? 0;
