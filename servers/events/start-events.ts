import type { Endpoint } from "../../contract/service.ts";
import type { EventsActions, EventsViews } from "../../contract/services/events.ts";
import { createHttpRecorder } from "../core/http/http-recorder.ts";
import { createHttpServerFactory } from "../core/http/http-server.ts";
import { createTryRequest } from "../core/http/try-request.ts";
import { createClientAddress } from "../core/limits/rate-limit-client.ts";
import { listenTcp } from "../core/net/tcp-listener.ts";
import type { ServiceContext } from "../core/service/service.ts";
import { ServiceError } from "../core/service/service-error.ts";
import { createSampleTraffic } from "../core/traffic/sample-traffic.ts";
import { createDataActions, type DataHandlers } from "./events-actions.ts";
import type { EventsConfig } from "./events-config.ts";
import { createEventsLimits } from "./events-limits.ts";
import { createEventsApp, everyAnswer } from "./http/events-app.ts";
import { errorBody } from "./http/refusal.ts";
import { beginSample, sampleTiming } from "./sample-traffic.ts";
import { createStore } from "./store/open-store.ts";
import { createStoreAccess, type StoreAccess } from "./store-access.ts";

type EventsContext = ServiceContext<EventsConfig, EventsActions>;

/** Store, jobs and the actions that need nothing else: what serving and browsing have in common. */
function openData(context: EventsContext): { access: StoreAccess; handlers: DataHandlers } {
  const { config, log, onStop } = context;
  const show = <Name extends keyof EventsViews>(name: Name, value: EventsViews[Name]) => context.view(name, value);
  const access = createStoreAccess({ store: createStore(config, context.dataDir, log), log, view: show });
  onStop(access.close);
  const data = createDataActions({ access, log, showJobs: (jobs) => show("jobs", jobs) });
  onStop(data.close);
  return { access, handlers: data.handlers };
}

/** Answers the page's actions without listening, for looking at the data while the service is stopped. */
export function browseEvents(context: EventsContext): void {
  const { handlers } = openData(context);
  const needsService = () => {
    throw new ServiceError("SERVICE_NOT_RUNNING", "Events is not running", "Start it first.");
  };
  context.handle({
    ...handlers,
    try: needsService,
    "sample.start": needsService,
    "sample.stop": needsService,
    "limits.reset": needsService,
  });
}

export async function startEvents(
  context: EventsContext,
  endpointsAt: (port: number) => readonly Endpoint[],
): Promise<readonly Endpoint[]> {
  const { config, log, onStop } = context;
  const clientAddress = createClientAddress({ hops: config.proxyHops, addresses: config.proxyAddresses });
  const { access, handlers } = openData(context);
  const limits = await createEventsLimits(config, { log, show: (view) => context.view("limits", view) });
  onStop(limits.close);

  const recorder = createHttpRecorder({ traffic: context.traffic, log, bodyLimit: config.recordedBodyBytes });
  const app = createEventsApp({
    store: access.store,
    ready: access.ready,
    commits: access.commits,
    limiters: limits.limiters,
    clientAddress,
    bodyBytes: config.bodyBytes,
    onFault: access.fault,
  });
  const createServer = createHttpServerFactory({
    app,
    recorder,
    log,
    limits: { ...config, headersTimeoutMs: Math.min(10_000, config.requestTimeoutMs) },
    errorBody,
    headers: everyAnswer,
    handle: app as unknown as (request: object, response: object) => void,
  });
  const port = await listenTcp({ port: config.port, openToLan: config.openToLan, createServer, onStop });
  onStop(() => recorder.connections.destroyAll());
  // What arrived is stored and answered before the connections close.
  onStop(() => access.commits.drain());
  const tries = createTryRequest({ port, recorder });
  onStop(tries.close);
  const sample = createSampleTraffic({ ...sampleTiming, port, begin: beginSample, show: (view) => context.view("sample", view) });
  onStop(sample.stop);
  onStop(() => recorder.stop());

  context.counters(recorder.counters);
  context.handle({
    ...handlers,
    try: tries.run,
    "sample.start": () => {
      sample.start();
      return null;
    },
    "sample.stop": () => {
      sample.stop();
      return null;
    },
    "limits.reset": async () => {
      await limits.reset();
      return null;
    },
  });
  return endpointsAt(port);
}
