import { useService } from "../../control/use-store.ts";
import { httpOrigin } from "./endpoint.ts";
import { httpColumns } from "./http-columns.tsx";
import { LiveEmpty } from "./live-empty.tsx";
import { LiveList } from "./live-list.tsx";
import { SsePanel } from "./sse-panel.tsx";
import { useHttpViews } from "./use-http-views.ts";

/** Requests as they pass, the inspector of the chosen one, and who listens to server-sent events. */
export function HttpLive() {
  const service = useService("http");
  const { sample } = useHttpViews();
  return (
    <LiveList
      id="http"
      columns={httpColumns}
      placeholder="Path, client, start of body"
      origin={httpOrigin(service)}
      sampling={sample.running}
      empty={<LiveEmpty service={service} />}
    >
      <SsePanel service={service} />
    </LiveList>
  );
}
