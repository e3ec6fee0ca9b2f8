import { type DragEvent, type ReactNode, useState } from "react";
import { droppedEntries, readDropped } from "./dropped-files.ts";
import styles from "./protos.module.css";
import type { AddProtos } from "./use-add-protos.ts";

interface DropZoneProps {
  readonly onAdd: AddProtos["add"];
  /** Why nothing can be dropped now. */
  readonly refusal?: string | undefined;
  readonly children: ReactNode;
}

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes("Files");

/** Takes protocol files and folders that are dropped anywhere on its content. */
export function DropZone({ onAdd, refusal, children }: DropZoneProps) {
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
    if (refusal === undefined) onAdd(readDropped(droppedEntries(event.dataTransfer)));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files are dropped with a pointer only; the button does the same.
    <div className={styles.zone} onDragEnter={over} onDragOver={over} onDragLeave={leave} onDrop={drop}>
      {children}
      {isOver && (
        <div className={styles.over} data-refused={refusal !== undefined || undefined}>
          <p>{refusal ?? "Drop .proto files, a folder with them, or a descriptor set"}</p>
        </div>
      )}
    </div>
  );
}
