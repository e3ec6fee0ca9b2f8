import { z } from "zod";
import { webrtcActions } from "../../../../contract/services/webrtc.ts";
import { useControl } from "../../control/client-context.tsx";
import { useAnswer } from "../../control/use-answer.ts";
import { useService } from "../../control/use-store.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { SameAs } from "../try/same-as.tsx";
import { type ClientGroup, type ClientKind, clientGroups, clientLine, clientNotes, clientTitle, signallingHost } from "./client-lines.ts";
import styles from "./webrtc.module.css";

const credentialsEveryMs = 600_000;

interface ClientLinesProps {
  readonly group?: ClientGroup;
  readonly first: ClientKind;
  readonly title?: string;
  /** As wide as what it is in. */
  readonly isWide?: boolean;
}

/** Clients to copy, in the words of each dialect, with credentials that are valid now. */
export function ClientLines({ group = "signalling", first, title = "Connect", isWide = false }: ClientLinesProps) {
  const client = useControl();
  const service = useService("webrtc");
  const kinds: readonly ClientKind[] = clientGroups[group];
  const [kind, setKind] = useRemembered<ClientKind>(`webrtc.client.${first}`, first, z.enum(kinds));
  const iceServers = useAnswer({
    key: ["webrtc", "ice.servers"],
    ask: () => client.action(webrtcActions, "webrtc", "ice.servers", {}),
    enabled: service?.status.state === "running",
    everyMs: credentialsEveryMs,
  });
  return (
    <div className={isWide ? undefined : styles.lines}>
      <SameAs
        title={title}
        languages={kinds.map((value) => ({ value, label: clientTitle(value) }))}
        language={kind}
        onLanguage={setKind}
        text={clientLine(kind, { host: signallingHost(service), room: "demo", iceServers: iceServers.value })}
        copies="the lines"
        notes={clientNotes(kind)}
      />
    </div>
  );
}
