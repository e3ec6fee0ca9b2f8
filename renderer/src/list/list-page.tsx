import type { ReactNode } from "react";
import { Spring } from "../ui/panel.tsx";
import { Boundary } from "../ui/status/boundary.tsx";
import { Toolbar } from "../ui/toolbar.tsx";
import styles from "./list-page.module.css";

interface ListPageProps {
  /** Names the region, as "Live requests". */
  readonly label: string;
  /** Names the toolbar, as "Requests". */
  readonly toolbarLabel: string;
  /** At the start of the toolbar. */
  readonly filter: ReactNode;
  /** Beside the filter; on a line of its own where the page is narrow. */
  readonly scopes?: ReactNode;
  /** At its end. */
  readonly tools: ReactNode;
  readonly status: ReactNode;
  /** The table, or what replaces it. */
  readonly children: ReactNode;
  /** Below the status line: panels, dialogs, the inspector. */
  readonly below?: ReactNode;
}

/** Toolbar, list and status line, each in a fixed place. */
export function ListPage({ label, toolbarLabel, filter, scopes, tools, status, children, below }: ListPageProps) {
  return (
    <section className={styles.page} aria-label={label}>
      <Boundary region={`${label}: toolbar`} line>
        <Toolbar label={toolbarLabel} className={scopes ? styles.withScopes : ""}>
          {filter}
          {scopes && <span className={styles.scopes}>{scopes}</span>}
          <Spring />
          {tools}
        </Toolbar>
      </Boundary>
      <div className={styles.list}>
        <Boundary region={label}>{children}</Boundary>
      </div>
      <Boundary region={`${label}: status line`} line>
        {status}
      </Boundary>
      <Boundary region={`${label}: below the list`} line>
        {below}
      </Boundary>
    </section>
  );
}
