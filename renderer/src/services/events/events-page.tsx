import { httpInspectors } from "../../inspectors/http-inspectors.ts";
import { defineServicePage, liveTab, tryTab } from "../../pages/service/define-service-page.ts";
import { eventRowCommands } from "./event-row-commands.ts";
import { EventsLive } from "./events-live.tsx";
import { eventsPageCommands } from "./events-page-commands.ts";
import { EventsTry } from "./events-try.tsx";

export const eventsPage = defineServicePage({
  id: "events",
  color: "--bl-s5",
  minSample: { verb: "OPTIONS", outcome: "pending" },
  inspectors: httpInspectors,
  rowCommands: eventRowCommands,
  tabs: [liveTab(EventsLive, Object.values(eventsPageCommands)), tryTab(EventsTry)],
});
