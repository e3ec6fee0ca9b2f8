import { useState } from "react";
import { LogDrawer } from "../pages/logs/log-drawer.tsx";
import { Announcer } from "../ui/status/announcer.tsx";
import { Boundary } from "../ui/status/boundary.tsx";
import { useNotesOfPage } from "../ui/status/notify.tsx";
import { CommandPalette } from "./command-palette.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { ExportToasts } from "./exports/export-toasts.tsx";
import styles from "./frame.module.css";
import { Header } from "./header.tsx";
import { InspectorColumn } from "./inspector-column.tsx";
import { InspectorProvider } from "./inspector-slot.tsx";
import { PageOutlet } from "./page-outlet.tsx";
import { Rail } from "./rail.tsx";
import { restoreRoute } from "./route.ts";

export function Frame() {
  useState(restoreRoute);
  useNotesOfPage();
  return (
    <InspectorProvider>
      <div className={styles.frame}>
        <Boundary region="header" line>
          <Header />
        </Boundary>
        <Boundary region="rail">
          <Rail />
        </Boundary>
        <main className={styles.page} id="page">
          <Boundary region="connection" line>
            <ConnectionBanner />
          </Boundary>
          <PageOutlet />
        </main>
        <Boundary region="inspector column" line>
          <InspectorColumn />
        </Boundary>
        <Boundary region="logs" line>
          <LogDrawer />
        </Boundary>
      </div>
      <Announcer />
      <Boundary region="exports" line>
        <ExportToasts />
      </Boundary>
      <Boundary region="command palette">
        <CommandPalette />
      </Boundary>
    </InspectorProvider>
  );
}
