/** Binary items on their way from a service to the pages that look at them: a picture, sound, a recording. */

declare const headerType: unique symbol;

export interface BinaryPolicy {
  /** Bytes and items of one subscription that may be in flight unacknowledged. Items beyond that are dropped and counted. */
  readonly windowBytes: number;
  readonly windowItems: number;
  /** After a dropped item, and for a new subscriber: "key" drops every item up to the next key item, as a video decoder needs it. */
  readonly resume: "any" | "key";
}

/** One topic may have several sources, such as the path of each stream. */
export interface BinaryTopic<Header = unknown> {
  readonly policy: BinaryPolicy;
  /** For the compiler only. */
  readonly [headerType]?: Header;
}
export type BinaryTopics = Readonly<Record<string, BinaryTopic>>;
export type HeaderOf<Topic> = Topic extends { readonly [headerType]?: infer Header } ? Exclude<Header, undefined> : never;

/** `binaryTopic<Header>()(policy)`: an item is a header of plain fields and its bytes. */
export const binaryTopic =
  <Header>() =>
  (policy: BinaryPolicy): BinaryTopic<Header> => ({ policy });

export interface BinaryItem<Header = unknown> {
  readonly header: Header;
  readonly payload: Uint8Array;
  /** A key item: a decoder can start here. */
  readonly isKey: boolean;
}

/** Longest name of a source, in characters. */
export const maxSourceLength = 500;
