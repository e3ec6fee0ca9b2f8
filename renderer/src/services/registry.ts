import type { ServiceId, ServiceView } from "../../../contract/service.ts";
import type { RowCommands } from "../inspectors/kind-commands.ts";
import type { ServicePageDefinition } from "../pages/service/define-service-page.ts";
import { isPickedAtStart, originOf } from "../ui/texts/address.ts";
import type { ServiceColor } from "../ui/theme.ts";
import { accountPage } from "./account/account-page.tsx";
import { eventsPage } from "./events/events-page.tsx";
import { grpcPage } from "./grpc/grpc-page.tsx";
import { httpPage } from "./http/http-page.tsx";
import { mqttPage } from "./mqtt/mqtt-page.tsx";
import { rtspPage } from "./rtsp/rtsp-page.tsx";
import { webrtcPage } from "./webrtc/webrtc-page.tsx";

/** The page of each built service: one line each. */
const pages: readonly ServicePageDefinition[] = [httpPage, grpcPage, mqttPage, rtspPage, webrtcPage, accountPage, eventsPage];

export const servicePages: ReadonlyMap<ServiceId, ServicePageDefinition> = new Map(pages.map((page) => [page.id, page]));

export const rowCommandsOf = (id: ServiceId): RowCommands | undefined => servicePages.get(id)?.rowCommands;

/** The token of a service's colour in plots, the same wherever it is drawn. */
export const seriesToken = (id: ServiceId | undefined): ServiceColor | "--bl-text-3" =>
  (id && servicePages.get(id)?.color) ?? "--bl-text-3";

/** The command that makes the first row, of the first of these services whose page has one and whose address is known. */
export function firstCommand(services: readonly ServiceView[]): { readonly title: string; readonly command: string } | undefined {
  for (const service of services) {
    const traffic = servicePages.get(service.id)?.tabs.find((tab) => tab.kind === "traffic");
    const origin = originOf(service);
    if (traffic && !isPickedAtStart(origin)) return { title: service.title, command: traffic.empty.command(origin) };
  }
  return undefined;
}
