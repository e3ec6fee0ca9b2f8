import { Button } from "@mantine/core";
import empty from "../http/live-empty.module.css";

/** In place of rows, with the way out. */
export function Nothing({ text, action, onAction }: { readonly text: string; readonly action?: string; readonly onAction?: () => void }) {
  return (
    <div className={empty.none}>
      {text}
      {action && onAction && <Button onClick={onAction}>{action}</Button>}
    </div>
  );
}
