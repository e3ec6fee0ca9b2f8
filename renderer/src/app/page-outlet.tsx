import { type ReactNode, useEffect } from "react";
import { useService } from "../control/use-store.ts";
import { Overview } from "../pages/overview/overview.tsx";
import { ServicePage } from "../pages/service/service-page.tsx";
import { SettingsPage } from "../pages/settings/settings-page.tsx";
import { TimelinePage } from "../pages/timeline/timeline-page.tsx";
import { PageBoundary } from "./page-boundary.tsx";
import { hashOf, type Route, useRoute } from "./route.ts";

function pageOf(route: Route): ReactNode {
  switch (route.page) {
    case "overview":
      return <Overview />;
    case "service":
      return <ServicePage id={route.id} tab={route.tab} key={route.id} />;
    case "timeline":
      return <TimelinePage />;
    case "settings":
      return <SettingsPage />;
    default:
      return route satisfies never;
  }
}

export function PageOutlet() {
  const route = useRoute();
  const service = useService(route.page === "service" ? route.id : "http");
  const name = route.page === "service" ? (service?.title ?? "") : route.page.charAt(0).toUpperCase() + route.page.slice(1);
  useEffect(() => {
    document.title = name ? `${name} · Backlot` : "Backlot";
  }, [name]);
  return <PageBoundary key={hashOf(route)}>{pageOf(route)}</PageBoundary>;
}
