import { Activity, type ReactNode, useEffect } from "react";
import type { ServiceId } from "../../../contract/service.ts";
import { useService } from "../control/use-store.ts";
import { Overview } from "../pages/overview/overview.tsx";
import { ServicePage } from "../pages/service/service-page.tsx";
import { SettingsPage } from "../pages/settings/settings-page.tsx";
import { TimelinePage } from "../pages/timeline/timeline-page.tsx";
import { Boundary } from "../ui/status/boundary.tsx";
import { capitalized } from "../ui/texts/quantity.ts";
import { useVisited } from "../ui/use-remembered.ts";
import { type Route, useRoute } from "./route.ts";

function pageOf(key: Route["page"] | ServiceId, tab: string): ReactNode {
  switch (key) {
    case "overview":
      return <Overview />;
    case "timeline":
      return <TimelinePage />;
    case "settings":
      return <SettingsPage />;
    case "service":
      return null;
    default:
      return <ServicePage id={key} tab={tab} />;
  }
}

/** Tabs of a page share its key. */
const keyOf = (route: Route) => (route.page === "service" ? route.id : route.page);

/** Opened pages stay mounted, hidden and without effects, so that they keep their state. */
export function PageOutlet() {
  const route = useRoute();
  const key = keyOf(route);
  const visited = useVisited(key, route.page === "service" ? route.tab : "");
  const service = useService(route.page === "service" ? route.id : undefined);
  const name = route.page === "service" ? (service?.title ?? "") : capitalized(route.page);
  useEffect(() => {
    document.title = name ? `${name} · Backlot` : "Backlot";
  }, [name]);
  return [...visited].map(([shown, tab]) => (
    <Activity key={shown} mode={shown === key ? "visible" : "hidden"}>
      <Boundary region={`page ${shown}`}>{pageOf(shown as Route["page"] | ServiceId, tab)}</Boundary>
    </Activity>
  ));
}
