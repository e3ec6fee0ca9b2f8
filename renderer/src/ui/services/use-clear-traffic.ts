import type { ServiceId } from "../../../../contract/service.ts";
import { useControl } from "../../control/client-context.tsx";
import { announceReplaced } from "../../list/rows/use-traffic-rows.ts";
import { attempt, notifyDone } from "../status/notify.tsx";
import { formatCountOf } from "../texts/quantity.ts";

/** Only the last clear can be undone. */
const withdrawUndo = new Map<ServiceId, () => void>();

/** Clears a service's list, with an Undo. */
export function useClearTraffic() {
  const client = useControl();
  return (id: ServiceId, title: string) =>
    attempt(
      client.call("traffic.clear", { id }).then(({ cleared, left }) => {
        announceReplaced(id);
        withdrawUndo.get(id)?.();
        const withdraw = notifyDone(
          `Cleared ${formatCountOf(cleared, "row")} of ${title}${left > 0 ? `. ${formatCountOf(left, "open one")} ${left === 1 ? "stays" : "stay"}.` : ""}`,
          {
            title: "Undo",
            run: () => void attempt(client.call("traffic.restore", { id }).then(() => announceReplaced(id))),
          },
        );
        withdrawUndo.set(id, withdraw);
      }),
    );
}
