import { useDebouncedValue } from "@mantine/hooks";
import { useEffect, useState } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import { useControl } from "../../control/client-context.tsx";
import { failureOf } from "../../control/failure-error.ts";
import { nextFrame } from "../../control/frame-store.ts";
import { useStore } from "../../control/use-store.ts";
import { notifyFailure } from "../../ui/notify.tsx";
import { createTimelineRows } from "./timeline-rows.ts";

const typingMs = 200;
const recountMs = 5_000;

/** The frame tells of a lost connection. */
function onFailure(error: unknown): void {
  if (failureOf(error).code !== "CONNECTION_LOST") notifyFailure(error);
}

export function useTimeline(ids: readonly ServiceId[], text: string) {
  const client = useControl();
  const [rows] = useState(() => createTimelineRows({ read: (query) => client.call("traffic.read", query), onFailure, nextFrame }));
  const [settled] = useDebouncedValue(text, typingMs);
  const idKey = ids.join();

  useEffect(() => {
    const listed = idKey ? (idKey.split(",") as ServiceId[]) : [];
    const ends = listed.map((id) => client.subscribe(`traffic/${id}`, ({ items, dropped }) => rows.receive(items, dropped)));
    const end = client.onOpen(() => void rows.reload(listed, settled));
    const timer = setInterval(() => void rows.recount(), recountMs);
    return () => {
      clearInterval(timer);
      end();
      for (const unsubscribe of ends) unsubscribe();
    };
  }, [client, idKey, rows, settled]);

  return { view: useStore(rows.view), togglePause: rows.togglePause, onScrolledAway: rows.scrolled };
}
