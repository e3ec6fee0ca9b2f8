import type { ReactNode } from "react";
import { Boundary } from "../ui/status/boundary.tsx";
import { Toolbar } from "../ui/toolbar.tsx";
import styles from "./list-page.module.css";

/** How wide the scopes are decides below which width of the page they have their own line. */
type ScopesWidth = "narrow" | "usual" | "wide";
const scopesStyles: Readonly<Record<ScopesWidth, string | undefined>> = {
  narrow: styles.narrowScopes,
  usual: styles.usualScopes,
  wide: styles.wideScopes,
};

interface ListPageProps {
  /** Names the region, as "Live requests". */
  readonly label: string;
  /** Names the toolbar, as "Requests". */
  readonly toolbarLabel: string;
  /** Above the toolbar. */
  readonly above?: ReactNode;
  /** At the start of the toolbar. */
  readonly filter: ReactNode;
  /** Beside the filter; on a separate line if the page is narrow. */
  readonly scopes?: ReactNode;
  readonly scopesWidth?: ScopesWidth;
  /** At the end of the toolbar. */
  readonly tools: ReactNode;
  readonly status: ReactNode;
  /** The table, or what replaces it. */
  readonly children: ReactNode;
  /** Below the status line: panels, dialogs, the inspector. */
  readonly below?: ReactNode;
}

interface ListFrameProps {
  readonly label: string;
  readonly children: ReactNode;
}

/** What surrounds a list: bars above it, `ListArea`, a status line below it. */
export function ListFrame({ label, children }: ListFrameProps) {
  return (
    <section className={styles.page} aria-label={label}>
      {children}
    </section>
  );
}

/** Fills the height between the bars; `region` names it in the log. */
export function ListArea({ region, children }: { readonly region: string; readonly children: ReactNode }) {
  return (
    <div className={styles.list}>
      <Boundary region={region}>{children}</Boundary>
    </div>
  );
}

/** Toolbar, list and status line, each in a fixed place. */
export function ListPage(props: ListPageProps) {
  const { label, toolbarLabel, above, filter, scopes, scopesWidth = "usual", tools, status, children, below } = props;
  return (
    <ListFrame label={label}>
      {above && (
        <Boundary region={`${label}: above the list`} line>
          {above}
        </Boundary>
      )}
      <Boundary region={`${label}: toolbar`} line>
        <Toolbar label={toolbarLabel} className={scopes ? scopesStyles[scopesWidth] : undefined}>
          {filter}
          {scopes && <span className={styles.scopes}>{scopes}</span>}
          <div className={styles.tools}>{tools}</div>
        </Toolbar>
      </Boundary>
      <ListArea region={label}>{children}</ListArea>
      <Boundary region={`${label}: status line`} line>
        {status}
      </Boundary>
      <Boundary region={`${label}: below the list`} line>
        {below}
      </Boundary>
    </ListFrame>
  );
}
