import { Loader } from "@mantine/core";
import { lazy, type Ref, Suspense } from "react";
import { formatBytes } from "../ui/texts/quantity.ts";
import type { CodeViewHandle } from "./code-view.tsx";
import styles from "./content-viewer.module.css";
import type { LaidOutText } from "./layout/laid-out-text.ts";
import type { ContentLayoutState } from "./use-content-layout.ts";

/** Loaded when content is first shown, so that the page does not wait for it. */
const loadCodeView = () => import("./code-view.tsx");
const CodeView = lazy(() => loadCodeView().then((module) => ({ default: module.CodeView })));

/** Loads the editor while the browser is idle. */
export function preloadContentWell(): void {
  requestIdleCallback(() => void loadCodeView(), { timeout: 5_000 });
}

interface ContentWellProps {
  readonly label: string;
  readonly layout: ContentLayoutState;
  readonly bytes: number;
  readonly wrap: boolean;
  /** Notes on what is not shown as requested; above the text. */
  readonly note?: string;
  readonly ref?: Ref<CodeViewHandle>;
}

/** Laid out content, or the progress of the layout. */
export function ContentWell({ label, layout: { laidOut, isSlow }, bytes, wrap, note = "", ref }: ContentWellProps) {
  if (!laidOut) {
    return (
      <section className={styles.waiting} aria-label={label} aria-busy="true">
        {isSlow && (
          <>
            <Loader size={14} />
            <span role="status">{`Formatting ${formatBytes(bytes)}…`}</span>
          </>
        )}
      </section>
    );
  }
  return (
    <>
      {note !== "" && <p className={styles.note}>{note}</p>}
      <TextWell label={label} laidOut={laidOut} wrap={wrap} {...(ref !== undefined && { ref })} />
    </>
  );
}

interface TextWellProps {
  readonly label: string;
  readonly laidOut: LaidOutText;
  readonly wrap: boolean;
  readonly ref?: Ref<CodeViewHandle>;
}

export function TextWell(props: TextWellProps) {
  return (
    <Suspense fallback={<section className={styles.waiting} aria-label={props.label} aria-busy="true" />}>
      <CodeView {...props} />
    </Suspense>
  );
}
