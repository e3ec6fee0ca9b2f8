import type { ComponentType } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import { type ServiceTabName, serviceTabNames } from "../../app/route.ts";
import { AccountLive } from "../../services/account/account-live.tsx";
import { AccountSessions } from "../../services/account/account-sessions.tsx";
import { AccountTry } from "../../services/account/account-try.tsx";
import { AccountUsers } from "../../services/account/account-users.tsx";
import { EventsLive } from "../../services/events/events-live.tsx";
import { EventsTry } from "../../services/events/events-try.tsx";
import { HttpLive } from "../../services/http/http-live.tsx";
import { HttpTry } from "../../services/http/http-try.tsx";
import { MqttLive } from "../../services/mqtt/live/mqtt-live.tsx";
import { MqttLanText } from "../../services/mqtt/mqtt-lan-text.tsx";
import { MqttTry } from "../../services/mqtt/try/mqtt-try.tsx";
import { HttpRowInspector, type RowInspectorProps } from "./http-row-inspector.tsx";

export interface ServiceTabs {
  readonly Live: ComponentType;
  readonly Try: ComponentType;
  readonly Users?: ComponentType;
  readonly Sessions?: ComponentType;
  /** One row of its traffic, whole, in the inspector's column; without it the Timeline opens the service's page. */
  readonly Inspector?: ComponentType<RowInspectorProps>;
  /** What the heading's badge says where the service is open to the LAN, if more than that. */
  readonly LanText?: ComponentType;
}

/** The tabs that differ from service to service; a service that is not built has none. */
export const serviceTabs: Readonly<Partial<Record<ServiceId, ServiceTabs>>> = {
  http: { Live: HttpLive, Try: HttpTry, Inspector: HttpRowInspector },
  account: { Live: AccountLive, Users: AccountUsers, Sessions: AccountSessions, Try: AccountTry, Inspector: HttpRowInspector },
  mqtt: { Live: MqttLive, Try: MqttTry, LanText: MqttLanText },
  events: { Live: EventsLive, Try: EventsTry, Inspector: HttpRowInspector },
};

/** In the window's order; Config and Logs are the frame's own. */
export function tabNamesOf(id: ServiceId): readonly ServiceTabName[] {
  const own = serviceTabs[id];
  return serviceTabNames.filter((name) => (name === "users" ? own?.Users : name === "sessions" ? own?.Sessions : true));
}
