import { useNow } from "../../ui/status/since.tsx";
import { formatDurationExact } from "../../ui/texts/time.ts";

/** Below this the tenths are shown. */
const nearMs = 10_000;

/** How long an open call may still take. Not a live region: a screen reader would read each second. */
export function DeadlineLeft({ deadlineAt }: { readonly deadlineAt: number }) {
  const left = Math.max(0, deadlineAt - useNow(200));
  return <span>{`${deadlineLeftText(left)} left`}</span>;
}

export const deadlineLeftText = (leftMs: number): string =>
  leftMs < nearMs ? `${(leftMs / 1_000).toFixed(1)} s` : formatDurationExact(leftMs);
