import { useState } from "react";
import { LogDrawer } from "../pages/logs/log-drawer.tsx";
import { Announcer } from "../ui/status/announcer.tsx";
import { Boundary } from "../ui/status/boundary.tsx";
import { CommandPalette } from "./command-palette.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { useExportToasts } from "./exports/use-export-toasts.tsx";
import styles from "./frame.module.css";
import { Header } from "./header.tsx";
import { InspectorColumn } from "./inspector-column.tsx";
import { InspectorProvider } from "./inspector-slot.tsx";
import { PageOutlet } from "./page-outlet.tsx";
import { Rail } from "./rail.tsx";
import { restoreRoute } from "./route.ts";

export function Frame() {
  useState(restoreRoute);
  useExportToasts();
  return (
    <InspectorProvider>
      <div className={styles.frame}>
        <Boundary region="header">
          <Header />
        </Boundary>
        <Boundary region="rail">
          <Rail />
        </Boundary>
        <main className={styles.page} id="page">
          <ConnectionBanner />
          <PageOutlet />
        </main>
        <InspectorColumn />
        <Boundary region="logs">
          <LogDrawer />
        </Boundary>
      </div>
      <Announcer />
      <Boundary region="command palette">
        <CommandPalette />
      </Boundary>
    </InspectorProvider>
  );
}
