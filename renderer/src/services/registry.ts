import type { ServiceId } from "../../../contract/service.ts";
import type { ServicePageDefinition } from "../pages/service/define-service-page.ts";
import type { Tokens } from "../ui/theme.ts";
import { accountPage } from "./account/account-page.tsx";
import { eventsPage } from "./events/events-page.tsx";
import { httpPage } from "./http/http-page.tsx";
import { mqttPage } from "./mqtt/mqtt-page.tsx";

/** The page of each built service: one line each. */
const pages: readonly ServicePageDefinition[] = [httpPage, mqttPage, accountPage, eventsPage];

export const servicePages: ReadonlyMap<ServiceId, ServicePageDefinition> = new Map(pages.map((page) => [page.id, page]));

/** The token of a service's colour in plots, the same wherever it is drawn. */
export const seriesToken = (id: ServiceId): keyof Tokens => servicePages.get(id)?.color ?? "--bl-text-3";
