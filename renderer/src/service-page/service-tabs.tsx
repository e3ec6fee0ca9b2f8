import type { ComponentType } from "react";
import type { ServiceId } from "../../../contract/service.ts";
import { HttpLive } from "../http/http-live.tsx";
import { HttpTry } from "../http/http-try.tsx";
import { HttpRowInspector, type RowInspectorProps } from "./http-row-inspector.tsx";

export interface ServiceTabs {
  readonly Live: ComponentType;
  readonly Try: ComponentType;
  /** One row of its traffic, whole, in the inspector's column; without it the Timeline opens the service's page. */
  readonly Inspector?: ComponentType<RowInspectorProps>;
}

/** The tabs that differ from service to service; a service that is not built has none. */
export const serviceTabs: Readonly<Partial<Record<ServiceId, ServiceTabs>>> = {
  http: { Live: HttpLive, Try: HttpTry, Inspector: HttpRowInspector },
};
