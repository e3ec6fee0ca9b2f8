/** What one service offers to the others: calls, and streams of items. They travel through the supervisor. */
import type { z } from "zod";
import type { Operations } from "./operation.ts";
import type { ServiceId } from "./service.ts";

declare const headerType: unique symbol;

export interface ProvidedStream<Params extends z.ZodType = z.ZodType, Header = unknown> {
  readonly params: Params;
  /** For the compiler only: items come from our own code and are not parsed again. */
  readonly [headerType]?: Header;
}
export type ProvidedStreams = Readonly<Record<string, ProvidedStream>>;
export type StreamHeaderOf<Stream> = Stream extends { readonly [headerType]?: infer Header } ? Exclude<Header, undefined> : never;

/** `providedStream<Header>()(paramsSchema)`: an item is a header of plain fields and, where there are any, bytes. */
export const providedStream =
  <Header>() =>
  <Params extends z.ZodType>(params: Params): ProvidedStream<Params, Header> => ({ params });

export interface Provided<Calls extends Operations = Operations, Streams extends ProvidedStreams = ProvidedStreams> {
  readonly service: ServiceId;
  readonly calls: Calls;
  readonly streams: Streams;
}
export const provided = <Calls extends Operations, Streams extends ProvidedStreams>(
  declaration: Provided<Calls, Streams>,
): Provided<Calls, Streams> => declaration;

export interface StreamItem<Header = unknown> {
  readonly header: Header;
  readonly payload?: Uint8Array;
}

/** How much of a stream may be in flight before its reader has consumed it. */
export interface StreamCredit {
  readonly items: number;
  readonly bytes: number;
}
