import type { ServiceId } from "../../../contract/service.ts";
import type { ServicePageDefinition } from "../pages/service/define-service-page.ts";
import { accountPage } from "./account/account-page.tsx";
import { eventsPage } from "./events/events-page.tsx";
import { httpPage } from "./http/http-page.tsx";
import { mqttPage } from "./mqtt/mqtt-page.tsx";

/** The page of each built service: one line each. */
const pages: readonly ServicePageDefinition[] = [httpPage, mqttPage, accountPage, eventsPage];

export const servicePages: ReadonlyMap<ServiceId, ServicePageDefinition> = new Map(pages.map((page) => [page.id, page]));
