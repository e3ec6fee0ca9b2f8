/** Calls and streams from one service to another, as they pass through the supervisor. Ids are the consumer's or the supervisor's. */
import type { StreamCredit, StreamItem } from "../../../contract/provided.ts";
import type { Failure, ServiceId } from "../../../contract/service.ts";

interface PeerRequest {
  readonly id: number;
  readonly name: string;
  readonly params: unknown;
}

/** Messages of the side that asks; `Party` names the other service. */
type PeerRequests<Prefix extends string, Party> =
  | (PeerRequest & Party & { readonly type: `${Prefix}Call` })
  | (PeerRequest & Party & { readonly type: `${Prefix}Open`; readonly credit: StreamCredit })
  /** The reader consumed this much; the sender gets it back as credit. */
  | { readonly type: `${Prefix}Taken`; readonly id: number; readonly credit: StreamCredit }
  | { readonly type: `${Prefix}Cancel`; readonly id: number };

/** Messages of the side that answers. */
type PeerAnswers<Prefix extends string> =
  | { readonly type: `${Prefix}Result`; readonly id: number; readonly value: unknown }
  | { readonly type: `${Prefix}Item`; readonly id: number; readonly item: StreamItem }
  /** A call failed, or a stream ended; without a failure the stream is complete. */
  | { readonly type: `${Prefix}End`; readonly id: number; readonly failure?: Failure };

export type ConsumerMessage = PeerRequests<"peer", { readonly service: ServiceId }>;
export type ToConsumer = PeerAnswers<"peer">;
export type ToProvider = PeerRequests<"serve", { readonly consumer: ServiceId }>;
export type ProviderMessage = PeerAnswers<"served">;

export const bytesOf = (item: StreamItem): number => item.payload?.byteLength ?? 0;
