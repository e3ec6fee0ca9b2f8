import { Button, Progress } from "@mantine/core";
import { Caption } from "../panel.tsx";
import { useNow } from "./since.tsx";

/** Shorter work is not shown. */
export const shownAfterMs = 300;

interface UploadProgressProps {
  /** When it began. */
  readonly at: number;
  readonly bytes: number;
  readonly sentBytes: number;
  readonly label: string;
  /** "3 MB of 20 MB" */
  readonly text: string;
  cancel(): void;
}

/** An upload in progress, in a panel's head. */
export function UploadProgress({ at, bytes, sentBytes, label, text, cancel }: UploadProgressProps) {
  if (useNow(250) - at < shownAfterMs) return null;
  return (
    <>
      <Caption>{text}</Caption>
      <Progress flex="0 0 120px" value={(100 * sentBytes) / Math.max(1, bytes)} aria-label={label} />
      <Button size="compact-xs" onClick={cancel}>
        Cancel
      </Button>
    </>
  );
}
