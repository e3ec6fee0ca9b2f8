import { z } from "zod";
import { EdgeHandle } from "../ui/edge-handle.tsx";
import { useRemembered } from "../ui/use-remembered.ts";
import styles from "./inspector-column.module.css";
import { useInspectorPlace } from "./inspector-slot.tsx";

const narrowestPx = 448;
const widestPx = 560;

/** Full height beside the page, with the width set by the user; visible while a page fills the slot. */
export function InspectorColumn() {
  const { owner, setHost } = useInspectorPlace();
  const [width, setWidth] = useRemembered<number | null>("inspector-width", null, z.number().nullable());
  if (owner === undefined) return null;
  return (
    <aside className={styles.column} aria-label="Inspector" style={{ width: width ?? "var(--bl-inspector)" }}>
      <EdgeHandle
        axis="x"
        minimum={narrowestPx}
        maximum={widestPx}
        value={width ?? Math.min(widestPx, Math.max(narrowestPx, Math.round(innerWidth * 0.28)))}
        onChange={setWidth}
        label="Width of the inspector"
      />
      <div className={styles.content} ref={setHost} />
    </aside>
  );
}
