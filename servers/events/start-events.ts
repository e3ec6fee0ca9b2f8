import type { Endpoint } from "../../contract/service.ts";
import { type EventsActions, type EventsViews, eventsActions } from "../../contract/services/events.ts";
import { checkConfiguredFile, configuredFile, fileProblem } from "../core/config/configured-file.ts";
import type { HttpAddress } from "../core/http/http-definition.ts";
import { serveHttp } from "../core/http/serve-http.ts";
import { createClientAddress } from "../core/limits/rate-limit-client.ts";
import { refusedActions, type ServiceContext } from "../core/service/service.ts";
import { createDataActions, type DataHandlers } from "./events-actions.ts";
import { type EventsConfig, eventsConfig } from "./events-config.ts";
import { createEventsLimits } from "./routes/event-limits.ts";
import { eventRoutes, eventsCors, eventsErrors } from "./routes/event-routes.ts";
import { eventsSample } from "./sample-traffic.ts";
import { databasePlace } from "./store/database-place.ts";
import { createStore, type StoreConfig } from "./store/open-store.ts";
import { createStoreAccess, type StoreAccess } from "./store-access.ts";

type DataContext = ServiceContext<StoreConfig, EventsActions, EventsViews>;

/** Store, jobs and their actions: used by serving and by browsing. */
function openData(context: DataContext): { access: StoreAccess; handlers: DataHandlers } {
  const { config, log, onStop } = context;
  const access = createStoreAccess({ store: createStore(config, context.dataDir, log), log, view: context.view });
  onStop(access.close);
  const data = createDataActions({ access, log, showJobs: (jobs) => context.view("jobs", jobs) });
  onStop(data.close);
  return { access, handlers: data.handlers };
}

/** Answers the page's actions without listening, for looking at the data while the service is stopped. */
export function browseEvents(context: DataContext): void {
  const { handlers } = openData(context);
  context.handle({ ...refusedActions(eventsActions, "Events"), ...handlers });
}

export async function startEvents(
  context: ServiceContext<EventsConfig, EventsActions, EventsViews>,
  endpoints: (address: HttpAddress) => readonly Endpoint[],
): Promise<readonly Endpoint[]> {
  const { config, log, onStop } = context;
  const clientAddress = createClientAddress({ hops: config.proxyHops, addresses: config.proxyAddresses });
  const named = databasePlace(config.database);
  const databaseFile = configuredFile(eventsConfig.shape, config, "database");
  // Before the store has it open: closing a file ends the locks that this process has on it.
  if (named.kind === "file") await checkConfiguredFile({ ...databaseFile, path: named.file }, { isMade: true });
  const { access, handlers } = openData(context);
  const problem = access.store.problemBefore?.();
  if (problem && config.database !== "")
    throw fileProblem(
      databaseFile,
      "is not a readable database",
      `Correct the path in ${databaseFile.env}, or move the file away.`,
      problem,
    );
  // The service goes on: the next request opens a good file in its place.
  if (problem) access.fault(problem);
  const limits = await createEventsLimits(config, { log, show: (view) => context.view("limits", view) });
  onStop(limits.close);

  const { store, ready, commits } = access;
  const serving = await serveHttp(context, {
    routes: eventRoutes({ store, ready, commits, limiters: limits.limiters, clientAddress, bodyBytes: config.bodyBytes }),
    cors: eventsCors,
    errors: eventsErrors(store, config.bodyBytes, access.fault),
    sample: eventsSample,
    // Received events are stored and answered before the connections close.
    onClosing: () => commits.drain(),
  });
  context.handle({
    ...handlers,
    ...serving.actions,
    "limits.reset": async () => {
      await limits.reset();
      return null;
    },
  });
  return endpoints({ ...config, ...serving.ports });
}
