import type { LadderSignal } from "../../../../../contract/services/webrtc-signals.ts";
import { signalTitle } from "../../../../../contract/traffic/webrtc-words.ts";
import { CellText } from "../../../list/cells/cell-text.tsx";
import type { Column } from "../../../list/columns/column.ts";
import { formatBytes, formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime, formatTook, isoTime } from "../../../ui/texts/time.ts";
import { markLeft, type PeerLabels } from "../peer-labels.ts";
import styles from "./ladder.module.css";
import { type LaidOutLadder, type Lane, othersLane, type Rung, serviceLane } from "./lay-out-ladder.ts";

export interface LadderNames {
  readonly names: PeerLabels;
}

/** What a peer calls itself, or the start of its identifier. */
export const peerName = (peer: string, names: LadderNames["names"]): string =>
  peer === serviceLane ? "Backlot" : shownText(names[peer] || (peer.length > 10 ? `${peer.slice(0, 8)}…` : peer));

const laneTitle = ({ id, peers }: Lane, names: LadderNames["names"]): string =>
  id === othersLane ? formatCountOf(peers, "other") : peerName(id, names);

/** "offer", "6 candidates" */
export function rungTitle({ signals }: Rung): string {
  const [first] = signals;
  if (signals.length > 1) return `${formatCount(signals.length)} candidates`;
  return first ? titleOf(first) : "";
}

/** Outcomes that need no word. */
const usualOutcomes: ReadonlySet<string> = new Set(["delivered", "received", "joined", "left"]);

function titleOf({ kind, outcome, isEnd }: LadderSignal): string {
  if (isEnd) return "disconnected";
  const title = signalTitle(kind);
  const saysAll = usualOutcomes.has(outcome) || outcome.replaceAll("-", " ") === title || (kind === "join" && outcome === "nobody there");
  return saysAll ? title : `${title}, ${outcome}`;
}

/** "host 2, relay 1" of several candidates. */
export function rungSummary({ signals }: Rung): string {
  const [first] = signals;
  if (signals.length === 1) return first?.summary ?? "";
  const types = new Map<string, number>();
  for (const { summary } of signals) {
    const type = summary.split(" ", 1)[0] ?? "";
    if (type !== "end") types.set(type, (types.get(type) ?? 0) + 1);
  }
  const isEnded = signals.some(({ summary }) => summary.startsWith("end"));
  return [...[...types].map(([type, count]) => (count > 1 ? `${type} ${count}` : type)), ...(isEnded ? ["end"] : [])].join(", ");
}

interface ColumnOptions extends LadderNames, Pick<LaidOutLadder, "lanes"> {
  /** Peers that are connected no more. */
  readonly left: ReadonlySet<string>;
  readonly picked: readonly string[];
  readonly onPick: (peer: string) => void;
}

export const ladderColumns = ({ lanes, names, left, picked, onPick }: ColumnOptions): readonly Column<Rung>[] => [
  {
    id: "time",
    title: "Time",
    minSample: "00:00:00.000",
    face: "mono",
    rank: 2,
    cell: ({ at }) => (
      <CellText tone="quiet" mono title={isoTime(at)}>
        {clockTime(at)}
      </CellText>
    ),
  },
  {
    id: "after",
    title: "After",
    minSample: "+00 m 00 s",
    align: "end",
    rank: 3,
    cell: ({ afterMs }) => (
      <CellText tone="quiet">{afterMs === undefined ? "–" : `+${afterMs < 1 ? "0 ms" : formatTook(afterMs)}`}</CellText>
    ),
  },
  {
    id: "ladder",
    title: "Peers",
    head: <LaneHeads lanes={lanes} names={names} left={left} picked={picked} onPick={onPick} />,
    rank: 0,
    cell: (rung) => <RungCell rung={rung} lanes={lanes} names={names} />,
  },
  {
    id: "size",
    title: "Size",
    minSample: "000 kB",
    align: "end",
    rank: 4,
    cell: ({ signals }) => <CellText tone="soft">{formatBytes(signals.reduce((sum, { bytes }) => sum + bytes, 0))}</CellText>,
  },
];

/** The peers: a press picks one, of whom only the signals are shown; a second one makes it a pair. */
function LaneHeads({ lanes, names, left, picked, onPick }: ColumnOptions) {
  return (
    <div className={styles.heads} style={{ "--lanes": lanes.length } as never}>
      {lanes.map((lane) => {
        const title = shownText(laneTitle(lane, names));
        return lane.id === othersLane || lane.id === serviceLane ? (
          <span
            key={lane.id}
            className={styles.head}
            title={
              lane.id === serviceLane
                ? "Messages of the dashboard"
                : "There is no room for a line each: the names are beside the signals. Choose a room or two peers to see them apart."
            }
          >
            {title}
          </span>
        ) : (
          <button
            key={lane.id}
            type="button"
            className={styles.head}
            aria-pressed={picked.includes(lane.id)}
            data-left={left.has(lane.id) || undefined}
            title={shownText(headTitle(lane, left.has(lane.id)))}
            // The keys of the grid move through rows.
            onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && event.stopPropagation()}
            onClick={() => onPick(lane.id)}
          >
            {title}
            {left.has(lane.id) && <span className="visually-hidden">{markLeft("", true)}</span>}
          </button>
        );
      })}
    </div>
  );
}

const headTitle = ({ id, peers }: Lane, hasLeft: boolean): string =>
  peers > 1 ? `${markLeft(id, hasLeft)}, and ${formatCount(peers - 1)} before on the same line` : markLeft(id, hasLeft);

/** Signals that go to nobody else. */
const ofPeerAlone: ReadonlySet<string> = new Set(["join", "leave", "bad"]);

function RungCell({ rung, lanes, names }: { readonly rung: Rung; readonly lanes: readonly Lane[] } & LadderNames) {
  const { from, to, signals } = rung;
  const [first] = signals;
  if (!first) return null;
  const ends = [from, ...to];
  const left = Math.min(...ends);
  const right = Math.max(...ends);
  const summary = shownText(rungSummary(rung));
  const { isLost } = first;
  const isForRoom = first.to === undefined && first.room !== undefined && !ofPeerAlone.has(first.kind);
  const target = first.to !== undefined ? ` to ${peerName(first.to, names)}` : isForRoom ? " to the room" : "";
  const spoken = `${peerName(first.from, names)}${target}: ${rungTitle(rung)}${summary && `, ${summary}`}`;
  // Another peer is at the head of the line: the names are in the label.
  const isAtHead = (place: number | undefined, peer: string) => peerName(lanes[place ?? -1]?.id ?? "", names) === peerName(peer, names);
  const sharesLane = !isAtHead(from, first.from) || (first.to !== undefined && !isAtHead(to[0], first.to));
  const style = { "--lanes": lanes.length, "--left": left, "--right": right } as never;
  return (
    <div className={styles.rung} data-kind={first.kind} data-lost={isLost || undefined} style={style} title={shownText(spoken)}>
      <span className="visually-hidden">{shownText(spoken)}</span>
      <span className={styles.label} data-end={left === lanes.length - 1 || undefined} aria-hidden="true">
        <b>{rungTitle(rung)}</b>
        {sharesLane && <i>{`${peerName(first.from, names)}${first.to === undefined ? "" : ` → ${peerName(first.to, names)}`}`}</i>}
        {summary && <span>{summary}</span>}
      </span>
      {left === right ? (
        <span className={styles.within} aria-hidden="true" />
      ) : (
        <>
          <span className={styles.line} aria-hidden="true" />
          <span className={styles.start} style={{ "--at": from } as never} aria-hidden="true" />
          {to.map((place) => (
            <svg
              key={place}
              className={styles.arrow}
              style={{ "--at": place } as never}
              data-back={place < from || undefined}
              viewBox="0 0 8 8"
              width="8"
              height="8"
              aria-hidden="true"
            >
              {isLost ? (
                <path d="m1 1 6 6m0-6-6 6" fill="none" stroke="currentColor" strokeWidth="1.6" />
              ) : (
                <path d="M0 0 8 4 0 8Z" fill="currentColor" />
              )}
            </svg>
          ))}
        </>
      )}
    </div>
  );
}
