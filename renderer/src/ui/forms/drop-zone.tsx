import { type DragEvent, type ReactNode, useState } from "react";
import styles from "./drop-zone.module.css";

interface DropZoneProps {
  /** What can be dropped: "Drop MP4 files". */
  readonly hint: string;
  /** Why nothing can be dropped now. */
  readonly refusal?: string | undefined;
  readonly children: ReactNode;
  /** Called during the event: the transfer is empty after it. */
  onDrop(transfer: DataTransfer): void;
}

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes("Files");

/** Takes files and folders that are dropped anywhere on its content. */
export function DropZone({ hint, refusal, children, onDrop }: DropZoneProps) {
  const [isOver, setIsOver] = useState(false);
  const over = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    // Otherwise the browser opens the file in place of the page.
    event.preventDefault();
    event.dataTransfer.dropEffect = refusal === undefined ? "copy" : "none";
    setIsOver(true);
  };
  const leave = ({ currentTarget, relatedTarget }: DragEvent) => {
    if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setIsOver(false);
  };
  const drop = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setIsOver(false);
    if (refusal === undefined) onDrop(event.dataTransfer);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files are dropped with a pointer only; a button does the same.
    <div className={styles.zone} onDragEnter={over} onDragOver={over} onDragLeave={leave} onDrop={drop}>
      {children}
      {isOver && (
        <div className={styles.over} data-refused={refusal !== undefined || undefined}>
          <p>{refusal ?? hint}</p>
        </div>
      )}
    </div>
  );
}
