import type { WebrtcMediaSessionView } from "../../../../../contract/services/webrtc-media.ts";
import { InspectorSlot } from "../../../app/inspector-slot.tsx";
import { useService } from "../../../control/use-store.ts";
import { ColumnMenu, useColumnChoice } from "../../../list/columns/column-choice.tsx";
import { DataTable } from "../../../list/data-table.tsx";
import { ListPage } from "../../../list/list-page.tsx";
import { Fact } from "../../../list/list-status.tsx";
import { useRowChoice } from "../../../list/use-row-choice.ts";
import { FilterInput } from "../../../ui/forms/filter-input.tsx";
import { ServiceStopped, StartServiceButton } from "../../../ui/services/start-service-button.tsx";
import { Loading } from "../../../ui/status/answered.tsx";
import { EmptyState, NoRows } from "../../../ui/status/empty-state.tsx";
import { EmptyPage } from "../../../ui/status/first-steps.tsx";
import { formatBitRate, formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { Facts, StatusLine } from "../../../ui/toolbar.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { ClientLines } from "../client-lines-view.tsx";
import { WebrtcRow } from "../inspectors/webrtc-row.tsx";
import { TestPageButton } from "../test-page/test-page-button.tsx";
import { useWebrtcView } from "../use-webrtc-view.ts";
import { mediaColumns, mediaTexts } from "./media-columns.tsx";

const sessionRow = ({ row }: WebrtcMediaSessionView) => row;

/** Who plays a path of the RTSP service in a browser (WHEP), and who publishes one (WHIP). */
export function WebrtcMediaSessions() {
  const service = useService("webrtc");
  const rtsp = useService("rtsp");
  const view = useWebrtcView("media");
  const [text, setText] = useRemembered("webrtc.media.filter", "");
  const columns = useColumnChoice("webrtc-media", mediaColumns);
  const choice = useRowChoice(sessionRow);
  if (service?.status.state !== "running") return <ServiceStopped id="webrtc" text="Start the service to see who plays and publishes." />;
  const needle = text.trim().toLowerCase();
  const rows = view?.sessions.filter((session) => mediaTexts(session).toLowerCase().includes(needle));
  const { opened } = choice;
  const count = (protocol: WebrtcMediaSessionView["protocol"]) => view?.sessions.filter((one) => one.protocol === protocol).length ?? 0;
  const unconnected = view?.sessions.filter(({ state }) => state !== "connected").length ?? 0;
  const bitRate = view?.sessions.reduce((sum, session) => sum + session.bitRate, 0) ?? 0;
  const withLeftOut = view?.sessions.filter(({ leftOut }) => leftOut.length > 0).length ?? 0;
  return (
    <ListPage
      label="Media"
      toolbarLabel="Media"
      filter={<FilterInput width={242} placeholder="Path, codec, client" value={text} onChange={setText} />}
      tools={
        <>
          <TestPageButton />
          <ColumnMenu all={mediaColumns} choice={columns} />
        </>
      }
      status={
        <StatusLine>
          <Facts>
            {view && <Fact>{formatCountOf(count("whep"), "player")}</Fact>}
            {view && <Fact>{formatCountOf(count("whip"), "publisher")}</Fact>}
            {view && view.more > 0 && <Fact title="The newest are shown.">{`${formatCount(view.more)} more not shown`}</Fact>}
            {unconnected > 0 && (
              <Fact title="Their first checks of ICE, or their keys, are awaited.">{`${formatCount(unconnected)} not connected yet`}</Fact>
            )}
            {bitRate > 0 && <Fact>{formatBitRate(bitRate)}</Fact>}
            {withLeftOut > 0 && (
              <Fact title="Their rows say which track, and why.">{`${formatCount(withLeftOut)} without pictures or sound`}</Fact>
            )}
          </Facts>
        </StatusLine>
      }
      below={
        opened && (
          <InspectorSlot shows={opened.id}>
            <WebrtcRow row={opened.id} onClose={choice.close} />
          </InspectorSlot>
        )
      }
    >
      {rows === undefined ? (
        <Loading what="the sessions" />
      ) : view?.sessions.length === 0 && rtsp?.status.state !== "running" ? (
        <EmptyPage>
          <EmptyState
            title="The RTSP service is not running"
            text="Its paths are what browsers play by WHEP here, and publish into by WHIP. Until it runs, their offers get 503."
          >
            <StartServiceButton id="rtsp" service={rtsp} title="Start RTSP" />
          </EmptyState>
        </EmptyPage>
      ) : view?.sessions.length === 0 ? (
        <EmptyPage>
          <EmptyState
            title="Nobody plays or publishes"
            text="Browsers play the paths of the RTSP service by WHEP, and browsers, OBS or GStreamer publish into it by WHIP. Each of them appears here with its codecs, state, bit rate, loss and addresses, and with what it does not get. The test page does both, and so do these lines:"
          >
            <ClientLines group="media" first="whep" title="Play or publish" />
          </EmptyState>
        </EmptyPage>
      ) : (
        <DataTable
          {...choice.tableProps}
          label="Players and publishers"
          count={rows.length}
          rowAt={(index) => rows[index]}
          columns={columns.columns}
          empty={<NoRows text="No session matches the filter." action="Show all" onAction={() => setText("")} />}
        />
      )}
    </ListPage>
  );
}
