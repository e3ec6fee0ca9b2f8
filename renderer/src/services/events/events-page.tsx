import { httpInspectors } from "../../inspectors/http-inspectors.ts";
import { httpRowCommands } from "../../inspectors/http-row-commands.ts";
import { defineServicePage, liveTab, tryTab } from "../../pages/service/define-service-page.ts";
import { EventsLive } from "./events-live.tsx";
import { EventsTry } from "./events-try.tsx";
import { kindOfExchange, recordedTries } from "./try-kinds.ts";

export const eventsPage = defineServicePage({
  id: "events",
  color: "--bl-s5",
  minSample: { verb: "OPTIONS", outcome: "pending" },
  inspectors: httpInspectors,
  rowCommands: httpRowCommands((exchange) => recordedTries.give("events", kindOfExchange(exchange))),
  tabs: [liveTab(EventsLive), tryTab(EventsTry)],
});
