import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import type { ServiceId, ServiceView } from "../../../../contract/service.ts";
import { goTo, type ServiceTabName, servicePage } from "../../app/route.ts";
import { useService } from "../../control/use-store.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { FailureBlock } from "../../ui/failure-block.tsx";
import { useServiceOperations } from "../../ui/use-service-operations.ts";
import { ConfigTab } from "../config/config-tab.tsx";
import { LogsTab } from "../logs/logs-tab.tsx";
import { ServiceHeading } from "./service-heading.tsx";
import styles from "./service-page.module.css";
import { serviceTabs, tabNamesOf } from "./service-tabs.tsx";

const titles: Readonly<Record<ServiceTabName, string>> = {
  live: "Live",
  users: "Users",
  sessions: "Sessions",
  try: "Try",
  config: "Config",
  logs: "Logs",
};

export function ServicePage({ id, tab: asked }: { id: ServiceId; tab: ServiceTabName }) {
  const service = useService(id);
  const operations = useServiceOperations();
  if (!service) return null;
  if (!service.built) return <NotBuilt service={service} />;
  const { status } = service;
  const names = tabNamesOf(id);
  // An address may name a tab that another service has.
  const tab = names.find((name) => name === asked) ?? "live";
  return (
    <div className={styles.page}>
      <ServiceHeading service={service} operations={operations} />
      <Tabs value={tab} onChange={(value) => goTo(servicePage(id, value as ServiceTabName))} keepMounted={false} className={styles.tabs}>
        <Tabs.List className={styles.list}>
          {names.map((value) => (
            <Tabs.Tab key={value} value={value}>
              {titles[value]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {status.state === "failed" && (
          <div className={styles.failure}>
            <FailureBlock id={id} failure={status.failure} retryAt={status.retryAt} operations={operations} />
          </div>
        )}
        <Tabs.Panel value={tab} className={styles.panel}>
          {contentOf(id, tab)}
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}

function contentOf(id: ServiceId, tab: ServiceTabName): ReactNode {
  const own = serviceTabs[id];
  switch (tab) {
    case "live":
      return own && <own.Live />;
    case "users":
      return own?.Users && <own.Users />;
    case "sessions":
      return own?.Sessions && <own.Sessions />;
    case "try":
      return own && <own.Try />;
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
        <h1 className={styles.title}>{service.title}</h1>
      </div>
      <EmptyState title={`${service.title} is not built yet`} text={`It will stand in for: ${service.purpose}.`} />
    </div>
  );
}
