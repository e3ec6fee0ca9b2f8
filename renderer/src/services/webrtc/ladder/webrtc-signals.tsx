import { useElementSize } from "@mantine/hooks";
import { IconStack2 } from "@tabler/icons-react";
import { useMemo, useRef, useState } from "react";
import { z } from "zod";
import { webrtcActions } from "../../../../../contract/services/webrtc.ts";
import type { LadderAnswer, LadderSignal, WebrtcSignalViews } from "../../../../../contract/services/webrtc-signals.ts";
import { InspectorSlot } from "../../../app/inspector-slot.tsx";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { useService } from "../../../control/use-store.ts";
import { DataTable } from "../../../list/data-table.tsx";
import { SampleToggle } from "../../../list/filter/sample-toggle.tsx";
import { noFilter, trafficFilterSchema } from "../../../list/filter/traffic-filter.ts";
import { PausedMark } from "../../../list/follow-mark.tsx";
import { ListPage } from "../../../list/list-page.tsx";
import { Fact, LeftOut } from "../../../list/list-status.tsx";
import { useRowChoice } from "../../../list/use-row-choice.ts";
import { useHandover } from "../../../pages/service/handover.ts";
import { useCommands, usePauseCommand } from "../../../ui/commands.ts";
import { CommandLine } from "../../../ui/copy/command-line.tsx";
import { type Choice, PickFilter } from "../../../ui/forms/pick-filter.tsx";
import { ServiceStopped } from "../../../ui/services/start-service-button.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { EmptyState, NoRows } from "../../../ui/status/empty-state.tsx";
import { EmptyPage } from "../../../ui/status/first-steps.tsx";
import { formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { Facts, PauseButton, StatusLine, ToggleButton, ToolbarSeparator } from "../../../ui/toolbar.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { clientLine, signallingHost } from "../client-lines.ts";
import { IceCheckPanel } from "../ice-check/ice-check-panel.tsx";
import { WebrtcRow } from "../inspectors/webrtc-row.tsx";
import { choicesOfPeers, markLeft, peerLabels } from "../peer-labels.ts";
import { useWebrtcView } from "../use-webrtc-view.ts";
import { ladderColumns, peerName } from "./ladder-columns.tsx";
import { type LadderScope, noLadderScope, requestedLadders } from "./ladder-scope.ts";
import { layOutLadder, othersLane, type Rung, serviceLane } from "./lay-out-ladder.ts";
import { RungInspector } from "./rung-inspector.tsx";

const rungRow = ({ row }: Rung) => row;
/** A lane that holds the name of a peer and the label of an arrow. */
const lanePx = 112;
const besidePx = 300;
const scopeSchema: z.ZodType<LadderScope> = z.object({ room: z.string(), peers: z.array(z.string()).max(2) });
const noSignals: readonly LadderSignal[] = [];
const noneYet: WebrtcSignalViews["signals"] = { total: 0, version: 0 };
const ofNoRun: WebrtcSignalViews["signals"] = { total: -1, version: -1 };

/** Who sent what to whom, and when: one line for each peer, one arrow for each signal. Also of earlier runs, while the service is stopped. */
export function WebrtcSignals() {
  const client = useControl();
  const state = useService("webrtc")?.status.state;
  const running = state === "running";
  const ofRun = useWebrtcView("signals", (view) => view) ?? noneYet;
  const { total, version } = running ? ofRun : ofNoRun;
  const [scope, setScope] = useRemembered("webrtc.ladder", noLadderScope, scopeSchema);
  const [folds, setFolds] = useRemembered("webrtc.ladder.folds", true, z.boolean());
  // As in the list of traffic.
  const [filter, setFilter] = useRemembered("filter.webrtc", noFilter, trafficFilterSchema);
  const { withoutSample } = filter;
  const setWithoutSample = (next: boolean) => setFilter({ ...filter, withoutSample: next });
  const [pausedAt, setPausedAt] = useState<WebrtcSignalViews["signals"]>();
  const choice = useRowChoice(rungRow);
  const box = useElementSize();
  const { room, peers } = scope;
  const change = (next: LadderScope) => {
    setScope(next);
    setPausedAt(undefined);
  };
  useHandover(requestedLadders, "webrtc", change);
  const answer = useAnswer({
    key: ["webrtc", "signals.list", String(withoutSample), room, ...peers],
    ask: () =>
      client.action(webrtcActions, "webrtc", "signals.list", {
        ...(room !== "" && { room }),
        ...(peers.length > 0 && { peers: [...peers] }),
        withoutSample,
      }),
    // Meanwhile no process answers.
    enabled: state !== "starting" && state !== "stopping",
    version: pausedAt?.version ?? version,
    restMs: 300,
  });
  const togglePause = () => setPausedAt(pausedAt === undefined ? { total, version } : undefined);
  usePauseCommand({ paused: pausedAt !== undefined, onToggle: togglePause });
  useCommands([
    {
      id: "ladder-fold",
      title: folds ? "Show each candidate" : "Fold candidates",
      keywords: "ladder signals",
      run: () => setFolds(!folds),
    },
    {
      id: "ladder-all",
      title: "Show the signals of all rooms and peers",
      enabled: room !== "" || peers.length > 0,
      run: () => change(noLadderScope),
    },
  ]);
  const signals = answer.value?.signals ?? noSignals;
  const mostLanes = Math.max(3, Math.floor((Math.max(600, box.width) - besidePx) / lanePx));
  const names = answer.value?.names ?? noNames;
  const labels = useMemo(() => (answer.value ? peerLabels(answer.value) : noNames), [answer.value]);
  const left = useMemo(() => new Set(answer.value?.left), [answer.value]);
  const before = useRef<readonly string[]>([]);
  const ladder = useMemo(() => {
    const laidOut = layOutLadder({ signals, mostLanes, foldsCandidates: folds, names, before: before.current });
    before.current = laidOut.lanes.map(({ id }) => id);
    return laidOut;
  }, [signals, mostLanes, folds, names]);
  const crowd = ladder.lanes.find(({ id }) => id === othersLane)?.peers ?? 0;
  const pick = (peer: string) => {
    if (peers.includes(peer)) change({ ...scope, peers: peers.filter((one) => one !== peer) });
    else change({ ...scope, peers: [...peers.slice(-1), peer] });
  };
  const showAll = () => {
    setWithoutSample(false);
    change(noLadderScope);
  };
  const columns = ladderColumns({ lanes: ladder.lanes, names: labels, left, picked: peers, onPick: pick });
  const pair = pairOf(scope, answer.value);
  const opened = choice.opened && (ladder.rungs.find(({ row }) => row === choice.opened?.id) ?? choice.opened.row);
  const rooms = useWebrtcView("rooms", (view) => view.rooms);
  const unnamed = ladder.lanes.filter(({ id }) => id !== othersLane && id !== serviceLane && !(id in names));
  const peerChoices = async (search: string) =>
    choicesOfPeers([...Object.entries(labels), ...unnamed.map(({ id }) => [id, id] as const)], left).filter(
      ({ value, label = "" }: Choice) => `${value} ${label}`.toLowerCase().includes(search.trim().toLowerCase()),
    );
  const isEmpty = answer.value !== undefined && signals.length === 0;
  const isFiltered = room !== "" || peers.length > 0 || withoutSample;
  return (
    <ListPage
      label="Signals"
      toolbarLabel="Signals"
      filter={
        <PickFilter
          service="webrtc"
          title="Room"
          value={room}
          onChange={(next) => change({ ...scope, room: next })}
          choices={async (search) =>
            (rooms ?? [])
              .filter(({ name }) => name.toLowerCase().includes(search.trim().toLowerCase()))
              .map(({ name, peerCount }) => ({ value: name, count: peerCount }))
          }
          version={rooms}
          search="Room contains"
          none="There is no room now"
          mono
          widthPx={160}
        />
      }
      scopes={[0, 1].map((place) => (
        <PickFilter
          key={place}
          service="webrtc"
          title={place === 0 ? "Peer" : "and"}
          value={peers[place] ?? ""}
          onChange={(next) => change({ ...scope, peers: withPeer(peers, place, next) })}
          choices={peerChoices}
          version={answer.value}
          search="Peer contains"
          none="No peer has sent a signal yet"
          shown={(peer) => markLeft(peerName(peer, labels), left.has(peer))}
          widthPx={140}
        />
      ))}
      tools={
        <>
          <SampleToggle without={withoutSample} onWithout={setWithoutSample} />
          <ToggleButton label="Fold candidates" icon={IconStack2} on={folds} onClick={() => setFolds(!folds)} />
          <ToolbarSeparator />
          <PauseButton paused={pausedAt !== undefined} onToggle={togglePause} what="the ladder" />
        </>
      }
      status={
        <StatusLine>
          <Facts>
            {!running && <Fact title="These were signalled before the service stopped.">of earlier runs</Fact>}
            {pausedAt !== undefined && (
              <PausedMark arrived={total > pausedAt.total ? `${formatCount(total - pausedAt.total)} arrived since` : undefined} />
            )}
            <Fact>{formatCountOf(signals.length, "signal")}</Fact>
            <Fact>{formatCountOf(new Set(signals.flatMap(({ from, to }) => [from, ...(to ? [to] : [])])).size, "peer")}</Fact>
            {crowd > 0 && (
              <Fact title="There is no room for a line each: their names are beside their signals.">
                {`${formatCountOf(crowd, "peer")} on one line: choose a room or two peers`}
              </Fact>
            )}
            {answer.value !== undefined && answer.value.more > 0 && (
              <LeftOut title="The newest are shown. Pick a room or a pair of peers to see older ones.">
                {`${formatCount(answer.value.more)} older ones not shown`}
              </LeftOut>
            )}
          </Facts>
        </StatusLine>
      }
      below={
        <>
          <IceCheckPanel pair={pair} names={labels} left={left} version={version} />
          {opened && (
            <InspectorSlot shows={opened.row}>
              {opened.signals.length > 1 ? (
                <RungInspector rung={opened} names={labels} onClose={choice.close} />
              ) : (
                <WebrtcRow row={opened.row} onClose={choice.close} />
              )}
            </InspectorSlot>
          )}
        </>
      }
    >
      <div ref={box.ref} style={{ height: "100%" }}>
        <Answered answer={answer} what="the signals">
          {() =>
            isEmpty && !isFiltered ? (
              <NoSignals running={running} />
            ) : (
              <DataTable
                {...choice.tableProps}
                label="Signals, in their order"
                count={ladder.rungs.length}
                rowAt={(index) => ladder.rungs[index]}
                columns={columns}
                followsEnd={pausedAt === undefined && choice.chosen === undefined}
                empty={<NoRows text="No signal of this choice is kept." action="Show all" onAction={showAll} />}
              />
            )
          }
        </Answered>
      </div>
    </ListPage>
  );
}

const noNames: LadderAnswer["names"] = {};

function withPeer(peers: readonly string[], place: number, next: string): string[] {
  const changed = [...peers];
  if (next === "") changed.splice(place, 1);
  else changed[Math.min(place, changed.length)] = next;
  return [...new Set(changed)];
}

/** The two that were picked, or the only two that there are. */
function pairOf({ peers }: LadderScope, answer: LadderAnswer | undefined): readonly [string, string] | undefined {
  const [one, other] = peers;
  if (one !== undefined && other !== undefined) return [one, other];
  const delivered = (answer?.signals ?? []).filter(({ isLost }) => !isLost);
  const all = new Set(delivered.flatMap(({ from, to }) => [from, ...(to === undefined ? [] : [to])]));
  all.delete(serviceLane);
  const [first, second] = all;
  return all.size === 2 && first !== undefined && second !== undefined ? [first, second] : undefined;
}

function NoSignals({ running }: { readonly running: boolean }) {
  const service = useService("webrtc");
  if (!running) return <ServiceStopped id="webrtc" text="Start the service to see who signals what to whom." />;
  return (
    <EmptyPage>
      <EmptyState
        title="No signals yet"
        text="Each offer, answer, candidate and chat message appears here as an arrow between two peers. Let two clients join a room, call in Try, or send one by hand:"
      >
        <CommandLine command={clientLine("websocat", { host: signallingHost(service), room: "demo" })} />
      </EmptyState>
    </EmptyPage>
  );
}
