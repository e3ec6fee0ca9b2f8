import type { ServiceView } from "../../../../contract/service.ts";
import { formatDuration } from "../../ui/duration.ts";
import { clockMinutes } from "../../ui/time.ts";

/** The quiet line of a card whose service does not run. */
export function cardNote({ status, purpose }: Pick<ServiceView, "status" | "purpose">): string {
  switch (status.state) {
    case "stopped":
      return status.lastRun
        ? `Last ran ${clockMinutes(status.lastRun.from)} for ${formatDuration(status.lastRun.to - status.lastRun.from)}`
        : purpose;
    case "starting":
      return "Starting";
    case "stopping":
      return "Stopping: open connections are being closed";
    case "running":
    case "failed":
      return purpose;
    default:
      return status satisfies never;
  }
}
