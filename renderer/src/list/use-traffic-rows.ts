import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { type ServiceId, serviceIds } from "../../../contract/service.ts";
import { useControl } from "../control/client-context.tsx";
import { failureOf } from "../control/failure-error.ts";
import { nextFrame } from "../control/frame-store.ts";
import { notifyFailure } from "../ui/notify.tsx";
import { byTime, joinPages } from "./joined-rows.ts";
import type { TrafficFilter } from "./traffic-filter.ts";
import { onReplaced } from "./traffic-replaced.ts";
import { createTrafficRows, type TrafficRows, type TrafficRowsView } from "./traffic-rows.ts";

const recountMs = 5_000;

/** The frame shows a lost connection. */
function onFailure(error: unknown): void {
  if (failureOf(error).code !== "CONNECTION_LOST") notifyFailure(error);
}

/** The rows of a service's live view: received while shown, read anew when shown again or the connection is made anew. */
export function useTrafficRows(id: ServiceId, filter: TrafficFilter): TrafficRows {
  const client = useControl();
  const [rows] = useState(() =>
    createTrafficRows({ read: (query) => client.call("traffic.read", { id, ...query }), onFailure, nextFrame, filter }),
  );
  useReceived(rows, id);
  return rows;
}

/** The rows of several services on one clock; `idKey` is their ids, joined with commas. */
export function useJoinedTrafficRows(idKey: string, filter: TrafficFilter): TrafficRows {
  const client = useControl();
  const shown = useRef(idKey);
  const [rows] = useState(() =>
    createTrafficRows({
      read: async (query) => joinPages(await Promise.all(idsOf(shown.current).map((id) => client.call("traffic.read", { id, ...query })))),
      onFailure,
      nextFrame,
      filter,
      order: byTime,
      readsOlder: false,
    }),
  );
  useEffect(() => {
    if (shown.current === idKey) return;
    shown.current = idKey;
    void rows.replaced();
  }, [rows, idKey]);
  useReceived(rows, idKey);
  return rows;
}

const idsOf = (idKey: string): readonly ServiceId[] => serviceIds.filter((id) => idKey.split(",").includes(id));

function useReceived(rows: TrafficRows, idKey: string): void {
  const client = useControl();
  useEffect(() => {
    const ids = idsOf(idKey);
    const ends = ids.map((id) => client.subscribe(`traffic/${id}`, ({ items, dropped }) => rows.receive(items, dropped)));
    ends.push(client.onOpen(() => void rows.reload()));
    ends.push(onReplaced((replaced) => void (ids.includes(replaced) && rows.replaced())));
    const timer = setInterval(() => void rows.recount(), recountMs);
    return () => {
      clearInterval(timer);
      for (const end of ends) end();
      rows.stop();
    };
  }, [client, idKey, rows]);
}

/** What `select` takes of a list's view; only a change of it renders again. It has to give the same value for the same view. */
export const useRowsView = <Value>(rows: TrafficRows, select: (view: TrafficRowsView) => Value): Value =>
  useSyncExternalStore(rows.subscribe, () => select(rows.view()));
