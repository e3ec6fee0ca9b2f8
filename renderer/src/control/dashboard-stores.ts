import type { Profiles } from "../../../contract/control.ts";
import type { ExportView } from "../../../contract/export.ts";
import { type LogLine, newestOfEach } from "../../../contract/log.ts";
import { type Failure, isSilent, type ServiceId, type ServiceView, serviceIds } from "../../../contract/service.ts";
import type { ProcessSample, RateSample } from "../../../contract/traffic/row.ts";
import type { ControlClient } from "./control-client.ts";
import { failureOf } from "./failure-error.ts";
import { atOnce, createFrameStore, createKeyedStore, type NextFrame, type ReadableStore } from "./frame-store.ts";

/** Values that a sparkline shows: two minutes at one a second. */
export const sparklineSamples = 120;

export interface RecentRate {
  /** Newest last. */
  readonly itemsPerSecond: readonly number[];
}
export const noRecentRate: RecentRate = { itemsPerSecond: [] };

export const appendRate = (recent: RecentRate, itemsPerSecond: number): RecentRate => ({
  itemsPerSecond: [...recent.itemsPerSecond.slice(-(sparklineSamples - 1)), itemsPerSecond],
});

/** Data that the frame shows on every page, updated from topics while the page is open. */
export interface DashboardStores {
  /** In the window's order; empty until the first answer. */
  readonly services: ReadableStore<readonly ServiceView[]>;
  service(id: ServiceId): ReadableStore<ServiceView | undefined>;
  rate(id: ServiceId): ReadableStore<RateSample | undefined>;
  recentRate(id: ServiceId): ReadableStore<RecentRate>;
  /** The newest sample of each service that has sent one. */
  readonly rates: ReadableStore<ReadonlyMap<ServiceId, RateSample>>;
  readonly process: ReadableStore<ProcessSample | undefined>;
  readonly profiles: ReadableStore<Profiles | undefined>;
  /** The newest first; undefined until the first answer. */
  readonly exports: ReadableStore<readonly ExportView[] | undefined>;
  readonly newestLine: ReadableStore<LogLine | undefined>;
  /** Notable lines, warnings and errors: what "Worth knowing" shows. Oldest first. */
  readonly notable: ReadableStore<readonly LogLine[]>;
  /** Why the first read of these stores failed. It is retried, and until it succeeds parts may be missing. */
  readonly loadFailure: ReadableStore<Failure | undefined>;
}

/** Delays between attempts of the first read. */
const reloadDelaysMs = [1_000, 2_000, 5_000, 10_000];

const heldNotable = 100;
/** In order of `seq`, each line once: the response to a read may arrive after published lines. */
const appendNotable = (held: readonly LogLine[], lines: readonly LogLine[]): readonly LogLine[] =>
  newestOfEach(
    [...new Map([...held, ...lines].map((line) => [line.seq, line])).values()].sort((one, other) => one.seq - other.seq),
    heldNotable,
  );

export function createDashboardStores(client: ControlClient, nextFrame: NextFrame): DashboardStores {
  // A state is shown at once: it changes seldom, and the next frame may be late under load.
  const services = createFrameStore<readonly ServiceView[]>([], atOnce);
  const service = createKeyedStore<ServiceId, ServiceView | undefined>(() => undefined, atOnce);
  const rate = createKeyedStore<ServiceId, RateSample | undefined>(() => undefined, nextFrame);
  const recentRate = createKeyedStore<ServiceId, RecentRate>(() => noRecentRate, nextFrame);
  const rates = createFrameStore<ReadonlyMap<ServiceId, RateSample>>(new Map(), nextFrame);
  const notable = createFrameStore<readonly LogLine[]>([], nextFrame);
  const process = createFrameStore<ProcessSample | undefined>(undefined, nextFrame);
  const profiles = createFrameStore<Profiles | undefined>(undefined, nextFrame);
  const exports = createFrameStore<readonly ExportView[] | undefined>(undefined, nextFrame);
  const loadFailure = createFrameStore<Failure | undefined>(undefined, nextFrame);
  const newestLine = createFrameStore<LogLine | undefined>(undefined, nextFrame);

  /** The last one of a service that hangs is over. */
  function forgetRate(id: ServiceId): void {
    rate(id).set(undefined);
    rates.set(new Map([...rates.latest()].filter(([known]) => known !== id)));
  }

  function showServices(views: readonly ServiceView[]): void {
    for (const view of views) {
      service(view.id).set(view);
      if (isSilent(view.status)) forgetRate(view.id);
    }
    services.set(serviceIds.flatMap((id) => service(id).latest() ?? []));
  }

  async function seedRates(): Promise<void> {
    const history = await client.call("rate.history", { seconds: sparklineSamples, points: sparklineSamples });
    // After a restart of Backlot there is no history of some services: what an earlier one has sent is over.
    for (const id of serviceIds) {
      const { itemsPerSecond = [] } = history.series.find(({ service }) => service === id) ?? {};
      recentRate(id).set({ itemsPerSecond: itemsPerSecond.slice(-sparklineSamples) });
    }
  }

  async function seedNotable(): Promise<void> {
    const { lines } = await client.call("log.read", { notable: true, limit: heldNotable });
    notable.set(appendNotable(notable.latest(), lines));
  }

  client.subscribe("status", ({ items }) => showServices(items));
  client.subscribe("rate", ({ items }) => {
    for (const sample of items) {
      rate(sample.service).set(sample);
      const recent = recentRate(sample.service);
      recent.set(appendRate(recent.latest(), sample.itemsPerSecond));
    }
    rates.set(new Map([...rates.latest(), ...items.map((sample) => [sample.service, sample] as const)]));
  });
  client.subscribe("process", ({ items }) => process.set(items.at(-1)));
  client.subscribe("profile", ({ items }) => profiles.set(items.at(-1)));
  client.subscribe("export", ({ items }) => exports.set(items.at(-1)));
  client.subscribe("log/newest", ({ items }) => newestLine.set(items.at(-1)));
  client.subscribe("log/notable", ({ items }) => notable.set(appendNotable(notable.latest(), items)));
  /** A newer connection ends the attempts of the previous one. */
  let connections = 0;
  async function load(connection: number, attempt: number): Promise<void> {
    try {
      await Promise.all([client.call("service.list").then(showServices), seedRates(), seedNotable()]);
      if (connection === connections) loadFailure.set(undefined);
    } catch (error) {
      const failure = failureOf(error);
      // The next connection reads again.
      if (connection !== connections || failure.code === "CONNECTION_LOST") return;
      loadFailure.set(failure);
      const waitMs = reloadDelaysMs[Math.min(attempt, reloadDelaysMs.length - 1)];
      setTimeout(() => connection === connections && void load(connection, attempt + 1), waitMs);
    }
  }
  client.onOpen(() => {
    // After a reconnect the supervisor may be a new one, whose `seq` starts again.
    newestLine.set(undefined);
    notable.set([]);
    loadFailure.set(undefined);
    void load(++connections, 0);
  });

  return { services, service, rate, recentRate, rates, process, profiles, exports, newestLine, notable, loadFailure };
}
