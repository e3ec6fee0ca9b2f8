import { SegmentedControl } from "@mantine/core";
import { Activity } from "react";
import { z } from "zod";
import { createHandover, useHandover } from "../../pages/service/handover.ts";
import { useCommands } from "../../ui/commands.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { RequestTry } from "./request-try.tsx";
import styles from "./try-form.module.css";
import { WebSocketTry } from "./websocket-try.tsx";

const kinds = ["request", "websocket"] as const;
export type TriedKind = (typeof kinds)[number];

const titles: Readonly<Record<TriedKind, string>> = { request: "Request", websocket: "WebSocket" };
const first: TriedKind = "request";

/** Which of the two the Try tab shows: for rows that are opened in it. */
export const triedKinds = createHandover<TriedKind>();

/** A request, or a WebSocket; the other one keeps what was typed and answered. */
export function HttpTry() {
  const [kind, setKind] = useRemembered<TriedKind>("try.http.kind", first, z.enum(kinds));
  useHandover(triedKinds, "http", setKind);
  useCommands(
    kinds
      .filter((other) => other !== kind)
      .map((other) => ({ id: `try-${other}`, title: `Try a ${titles[other]}`, keywords: "websocket ws echo", run: () => setKind(other) })),
  );
  const choice = (
    <div className={styles.kinds}>
      <SegmentedControl
        aria-label="What to try"
        data={kinds.map((value) => ({ value, label: titles[value] }))}
        value={kind}
        onChange={(value) => setKind(value as TriedKind)}
      />
    </div>
  );
  return (
    <>
      <Activity mode={kind === "request" ? "visible" : "hidden"}>
        <RequestTry kinds={choice} />
      </Activity>
      <Activity mode={kind === "websocket" ? "visible" : "hidden"}>
        <WebSocketTry kinds={choice} />
      </Activity>
    </>
  );
}
