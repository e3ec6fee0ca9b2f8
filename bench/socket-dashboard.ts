import type { TrafficRow } from "../contract/traffic/row.ts";
import type { AttachedDashboard } from "./attached-dashboard.ts";
import { openControlSocket } from "./control-socket.ts";

/** Where there is no Chromium: the same frames, counted and not painted. */
export async function openSocketDashboard(dashboardUrl: string): Promise<AttachedDashboard> {
  const socket = await openControlSocket(dashboardUrl);
  const rows = new Set<number>();
  const agesMs: number[] = [];
  let [updates, leftOut, batches] = [0, 0, 0];
  socket.subscribe("traffic/http", (batch) => {
    const items = batch.items as readonly TrafficRow[];
    let oldest = Number.POSITIVE_INFINITY;
    for (const row of items) {
      rows.add(row.id);
      oldest = Math.min(oldest, row.at);
    }
    updates += items.length;
    leftOut += batch.dropped;
    batches += 1;
    agesMs.push(Date.now() - oldest);
  });
  return {
    name: "a client of the control protocol that paints nothing",
    pids: () => [],
    counts: async () => ({ rows: rows.size, updates, leftOut, batches, agesMs }),
    close: async () => socket.close(),
  };
}
