import { Tabs } from "@mantine/core";
import type { ServiceId, ServiceView } from "../../../../contract/service.ts";
import { goTo, servicePage } from "../../app/route.ts";
import { useService } from "../../control/use-store.ts";
import { servicePages } from "../../services/registry.ts";
import { PageTitle } from "../../ui/panel.tsx";
import { useServiceOperations } from "../../ui/services/use-service-operations.ts";
import { Loading } from "../../ui/status/answered.tsx";
import { Boundary } from "../../ui/status/boundary.tsx";
import { EmptyState } from "../../ui/status/empty-state.tsx";
import { FailureBlock } from "../../ui/status/failure-block.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { useVisited } from "../../ui/use-remembered.ts";
import { ConfigTab } from "../config/config-tab.tsx";
import { LogsTab } from "../logs/logs-tab.tsx";
import type { ServiceTab } from "./define-service-page.ts";
import { ServiceHeading } from "./service-heading.tsx";
import styles from "./service-page.module.css";
import { TrafficList } from "./traffic-list.tsx";

type PageTab = ServiceTab | { readonly kind: "config" | "logs"; readonly name: string; readonly title: string };

/** A service's own tabs, then those that every service has. */
export const tabsOf = (id: ServiceId): readonly PageTab[] => [
  ...(servicePages.get(id)?.tabs ?? []),
  { kind: "config", name: "config", title: "Config" },
  { kind: "logs", name: "logs", title: "Logs" },
];

export function ServicePage({ id, tab: asked }: { id: ServiceId; tab: string }) {
  const service = useService(id);
  const operations = useServiceOperations();
  const tabs = tabsOf(id);
  // An address may name a tab that another service has.
  const tab = (tabs.find(({ name }) => name === asked) ?? tabs[0])?.name ?? "";
  const visited = useVisited(tab, tab);
  if (!service) return <Loading what="the service" />;
  if (!service.built) return <NotBuilt service={service} />;
  const { status } = service;
  return (
    <div className={styles.page}>
      <Boundary region={`${id}: heading`} line>
        <ServiceHeading service={service} operations={operations} />
      </Boundary>
      {/* Opened tabs stay mounted, with their state and scroll position. Their effects stop while they are hidden. */}
      <Tabs
        value={tab}
        onChange={(value) => value && goTo(servicePage(id, value))}
        keepMounted
        keepMountedMode="activity"
        className={styles.tabs}
      >
        <TabList className={styles.list} tabs={tabs} />
        {status.state === "failed" && (
          <div className={styles.failure}>
            <FailureBlock id={id} failure={status.failure} retryAt={status.retryAt} operations={operations} />
          </div>
        )}
        {tabs
          .filter(({ name }) => visited.has(name))
          .map((shown) => (
            <Tabs.Panel key={shown.name} value={shown.name} className={styles.panel}>
              <Boundary region={`${id}: ${shown.title}`}>
                <TabContent id={id} tab={shown} />
              </Boundary>
            </Tabs.Panel>
          ))}
      </Tabs>
    </div>
  );
}

function TabContent({ id, tab }: { readonly id: ServiceId; readonly tab: PageTab }) {
  switch (tab.kind) {
    case "traffic":
      return <TrafficList id={id} tab={tab} />;
    case "content":
      return <tab.Content />;
    case "config":
      return <ConfigTab id={id} />;
    case "logs":
      return <LogsTab id={id} />;
    default:
      return tab satisfies never;
  }
}

function NotBuilt({ service }: { service: ServiceView }) {
  return (
    <div className={styles.page}>
      <div className={styles.heading}>
        <PageTitle>{service.title}</PageTitle>
      </div>
      <EmptyState title={`${service.title} is not built yet`} text={`It will provide: ${service.purpose}.`} />
    </div>
  );
}
