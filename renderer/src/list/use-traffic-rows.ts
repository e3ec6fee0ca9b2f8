import { useEffect, useState, useSyncExternalStore } from "react";
import type { ServiceId } from "../../../contract/service.ts";
import { useControl } from "../control/client-context.tsx";
import { failureOf } from "../control/failure-error.ts";
import { notifyFailure } from "../ui/notify.tsx";
import type { TrafficFilter } from "./traffic-filter.ts";
import { onReplaced } from "./traffic-replaced.ts";
import { createTrafficRows, type TrafficRows, type TrafficRowsView } from "./traffic-rows.ts";

const recountMs = 5_000;

/** The rows of a service's live view; read anew when the connection is made anew. `filter` is the one to begin with. */
export function useTrafficRows(id: ServiceId, filter: TrafficFilter): readonly [TrafficRows, TrafficRowsView] {
  const client = useControl();
  const [rows] = useState(() =>
    createTrafficRows({
      read: (query) => client.call("traffic.read", { id, ...query }),
      onFailure: (error) => {
        // The frame tells of a lost connection.
        if (failureOf(error).code !== "CONNECTION_LOST") notifyFailure(error);
      },
      filter,
    }),
  );
  useEffect(() => {
    const unsubscribe = client.subscribe(`traffic/${id}`, ({ items, dropped }) => rows.receive(items, dropped));
    const forget = client.onOpen(() => void rows.reload());
    const forgetReplaced = onReplaced((replaced) => {
      if (replaced === id) void rows.replaced();
    });
    const timer = setInterval(() => void rows.recount(), recountMs);
    return () => {
      clearInterval(timer);
      forget();
      forgetReplaced();
      unsubscribe();
      rows.dispose();
    };
  }, [client, id, rows]);
  return [rows, useSyncExternalStore(rows.subscribe, rows.view)];
}
