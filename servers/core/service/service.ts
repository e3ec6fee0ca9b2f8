import type { z } from "zod";
import type { BinaryTopics, HeaderOf } from "../../../contract/binary.ts";
import type { Handlers, Operations } from "../../../contract/operation.ts";
import type { Provided } from "../../../contract/provided.ts";
import type { SampleViews } from "../../../contract/sample-traffic.ts";
import type { Endpoint, PortTransport, ServiceId, Snippet } from "../../../contract/service.ts";
import type { Figure } from "../../../contract/traffic/row.ts";
import type { InstallationCertificates } from "../certificates/installation-certificates.ts";
import type { BinaryPublisher } from "../streams/binary-publisher.ts";
import type { PeerServices } from "../streams/peer-client.ts";
import type { ProvidedHandlers } from "../streams/peer-provider.ts";
import type { DetailDecoders } from "../traffic/detail-decoder.ts";
import type { RecordWriter } from "../traffic/record-writer.ts";
import type { KeptRecord } from "../traffic/row-record.ts";
import type { Log } from "./log.ts";
import { ServiceError } from "./service-error.ts";

/** A service is data and one function. Its module stays light: `start` imports what is heavy. */
export interface Service<
  Schema extends z.ZodObject = z.ZodObject,
  Actions extends Operations = Operations,
  Binary extends BinaryTopics = BinaryTopics,
  Provides extends Provided = Provided,
  Browsed extends keyof z.output<Schema> & string = keyof z.output<Schema> & string,
> {
  readonly id: ServiceId;
  readonly title: string;
  /** Its purpose in a few words. */
  readonly purpose: string;
  /** Of the items of its counters, as cards show their rate: "req/s", "call/s", "Mbit/s". */
  readonly rateUnit: `${string}/s`;
  /** Defaults, validation, form, command-line help and environment names, from one place; begins with `commonFields(id)`. */
  readonly config: Schema;
  readonly actions: Actions;
  /** Topics of binary items for pages. */
  readonly binary?: Binary;
  /** Calls and streams for the other services. */
  readonly provides?: Provides;
  /** Decoders of its recorded details; the supervisor uses them when a row is opened. */
  readonly details: DetailDecoders;
  /** In the order in which they are shown; a field whose port is used for both transports is listed twice. */
  readonly ports: readonly ServicePort<z.output<Schema>>[];
  /**
   * Whether it uses `context.dataDir()` with this configuration: the folder is locked for it then, from before `start` or
   * `browse` until after the last release. "if possible": it also starts if the folder cannot be written.
   */
  keepsFiles?(config: z.output<Schema>): boolean | "if possible";
  /** Replaces passwords with hashes before values are saved. Absent if values are saved unchanged. */
  hashSecrets?(values: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  /** Where it would listen with this configuration. */
  endpoints(config: z.output<Schema>): readonly Endpoint[];
  snippets(endpoints: readonly Endpoint[], config: z.output<Schema>): readonly Snippet[];
  /** After a restart or a crash: the actions that go on with what its views had shown, in addition to the sample traffic. */
  resumes?(views: ReadonlyMap<string, unknown>): readonly ResumingAction[];
  /**
   * Resolves, with the endpoints, when it really listens.
   * It registers the release of whatever it opens with `context.onStop` on the next line, so there is no `stop`.
   */
  start(context: ServiceContext<z.output<Schema>, Actions, AnyViews, Binary, Provides>): Promise<readonly Endpoint[]>;
  /** For browsing its stored data while the service is stopped. */
  readonly browse?: Browse<Pick<z.output<Schema>, Browsed>, Browsed, Actions>;
}

export interface Browse<Config, Field extends string, Actions extends Operations> {
  /** The fields of the configuration on which it depends: a change of another one leaves it, and what is under way in it. */
  readonly fields: readonly Field[];
  /** Answers the page's actions from stored data without listening. */
  open(context: ServiceContext<Config, Actions, AnyViews>): Promise<void>;
}

export interface ResumingAction {
  readonly action: string;
  readonly params: unknown;
}

export interface ServicePort<Config = Readonly<Record<string, unknown>>> {
  /** The configuration field that holds it. */
  readonly field: keyof Config & string;
  readonly transport: PortTransport;
  /** The ports that begin with the one in `field`; absent where it is the only one. */
  readonly block?: PortBlock<Config>;
  /** Absent where it is always used. */
  isUsed?(config: Config): boolean;
}

export type PortBlock<Config = Readonly<Record<string, unknown>>> =
  /** It listens on some ports of the range, and skips those that are taken. */
  | { readonly kind: "range"; readonly lastField: keyof Config & string }
  /** It listens on an even port and on the next one, as RTP and RTCP do (RFC 3550 §11). The field is a `portPairField`. */
  | { readonly kind: "pair" }
  /** It sends to these ports of other computers and listens on none of them. */
  | { readonly kind: "destinations"; readonly count: number };

/** A service names its own views in the type of its context: `ServiceContext<EchoConfig, EchoActions, EchoViews>`. */
type AnyViews = SampleViews & Readonly<Record<string, unknown>>;

export interface ServiceContext<
  Config = unknown,
  Actions extends Operations = Operations,
  Views extends SampleViews = AnyViews,
  Binary extends BinaryTopics = BinaryTopics,
  Provides extends Provided = Provided,
> {
  readonly config: Config;
  /** The service's own folder, locked; only for services that declare `keepsFiles`. */
  dataDir(): string;
  /** This computer's certificate, of the installation's authority: for `listenTls`. Renewed until the service stops. */
  certificates(): Promise<InstallationCertificates>;
  readonly log: Log;
  readonly traffic: TrafficSink;
  /** Says what `start` does where that takes long. The start has its time anew from then on; see `longStep`. */
  progress(doing: string): void;
  /**
   * What the supervisor keeps of the traffic of this service's earlier processes, the oldest first. Read in bounded batches as it is
   * iterated.
   */
  readonly kept: AsyncIterable<KeptRecord>;
  /** Releases run in reverse order at stop, and also when start fails. */
  onStop(release: () => void | Promise<void>): void;
  /** Answers the actions, all of them; to be called once, before `start` or `browse` resolves. */
  handle(handlers: Handlers<Actions>): void;
  /** Publishes a view, a named value for the service's page; the newest wins, at most 10 a second are sent. */
  view<Name extends keyof Views & string>(name: Name, value: Views[Name]): void;
  /** Whether a page receives the views now: without one they may be published less often. */
  isWatched(): boolean;
  /** Calls back, with the reason as text, when no page has been open for some time: what Try holds open for it ends then. */
  onPagesLeft(listener: (why: string) => void): void;
  binary<Name extends keyof Binary & string>(name: Name): BinaryPublisher<HeaderOf<Binary[Name]>>;
  /** Registers the handlers of `provides`; to be called once, before `start` resolves. */
  provide(handlers: ProvidedHandlers<Provides["calls"], Provides["streams"]>): void;
  readonly services: PeerServices;
  /** Registers the function that returns the counters; it is called once a second. */
  counters(read: () => Counters): void;
}

export interface Counters {
  /** Requests, messages, events or Mbit since the start. */
  readonly items: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Open connections or sessions. Absent for a service without them. */
  readonly clients?: number;
  /** Further figures; with `perSecond` the value is a count since the start, from which the supervisor derives a rate. */
  readonly figures?: readonly (Figure & { readonly perSecond?: boolean })[];
  /** One line of text, or empty. */
  readonly note: string;
}

/** The queue slot of an entry that is not queued. */
export const notQueued = -1;

/** A row of the live view. It is serialized only when a batch is sent, which keeps its cost low. */
export interface TrafficEntry {
  readonly id: number;
  /** Bytes of memory that the entry holds beyond its row, for the limits of the queue. */
  readonly heldBytes: number;
  /** Its row is pending: it will be touched again. */
  readonly open: boolean;
  /** Starts as `notQueued`; written by the sink alone. */
  queueSlot: number;
  /** Starts as false; written by the sink alone: its row was sent while it was open. */
  isAnnounced: boolean;
  /**
   * Writes the current row, then the parts and the pieces of its detail that are new since the last call. The reader joins the pieces
   * of a detail; a piece that changes, such as counts, is written again and replaces the one before.
   */
  write(record: RecordWriter): void;
  /** Leaves out the parts that were not written yet, because the queue is full. */
  dropParts?(): void;
}

export interface TrafficSink {
  /** The id for the next entry. */
  nextId(): number;
  /** Queues the entry; call it when it begins and when it changed. Never throws, never waits. */
  touch(entry: TrafficEntry): void;
  /** Queues an entry that will not change any more; it is written immediately. Never throws, never waits. */
  end(entry: TrafficEntry): void;
}

/** Keeps the types of schema, actions and streams; the catalog sees the plain `Service`. */
export const defineService = <
  Schema extends z.ZodObject,
  Actions extends Operations,
  Binary extends BinaryTopics = BinaryTopics,
  Provides extends Provided = Provided,
  Browsed extends keyof z.output<Schema> & string = keyof z.output<Schema> & string,
>(
  service: Service<Schema, Actions, Binary, Provides, Browsed>,
): Service => service as unknown as Service;

/** Handlers for a service that is browsed: what only the running service can do is refused. */
export function refusedActions<Actions extends Operations>(actions: Actions, title: string): Handlers<Actions> {
  const refuse = () => {
    throw new ServiceError("SERVICE_NOT_RUNNING", `${title} is not running`, "Start it first.");
  };
  return Object.fromEntries(Object.keys(actions).map((name) => [name, refuse])) as unknown as Handlers<Actions>;
}
