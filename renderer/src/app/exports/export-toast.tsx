import { Button, Progress } from "@mantine/core";
import type { ExportView } from "../../../../contract/export.ts";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import styles from "./export-toast.module.css";
import { exportFigures, exportPercent, exportTitle } from "./export-words.ts";

interface ExportToastProps {
  readonly view: ExportView;
  readonly onCancel: () => void;
}

/** Under the title: the progress of an export with a button to cancel it, then its result. */
export function ExportToast({ view, onCancel }: ExportToastProps) {
  const running = view.state === "running";
  const percent = exportPercent(view);
  return (
    <div className={styles.toast}>
      {running && <Progress value={percent ?? 100} animated={percent === undefined} aria-label={exportTitle(view)} />}
      <div className={styles.line}>
        <span className={styles.figures}>{exportFigures(view)}</span>
        {view.state === "done" && view.file !== undefined && <CopyButton text={view.file} what="the path" />}
        {running && (
          <Button size="compact-xs" onClick={onCancel}>
            Cancel
          </Button>
        )}
      </div>
    </div>
  );
}
