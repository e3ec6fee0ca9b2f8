import type { ReactNode } from "react";
import type { RtspTried, RtspTriedTrack, RtspTryStep } from "../../../../../contract/services/rtsp.ts";
import { goTo, servicePage } from "../../../app/route.ts";
import { Section } from "../../../inspectors/section.tsx";
import type { Column } from "../../../list/column.ts";
import { DataTable } from "../../../list/data-table.tsx";
import { ToneMark } from "../../../list/tone-mark.tsx";
import { useRowChoice } from "../../../list/use-row-choice.ts";
import { Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { formatBytes, formatCount, formatCountOf, formatDecimals, listText } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatTook } from "../../../ui/texts/time.ts";
import { AnswerHead, AnswerNote, AnswerSection } from "../../try/answer-pane.tsx";
import { MessageContent } from "../message-content.tsx";
import { codecName } from "../picture/stream-texts.ts";
import { transportTitles } from "../player-lines.ts";
import styles from "./rtsp-try.module.css";

type Tried = Exclude<RtspTried, { readonly state: "untried" }>;

/** Visible at once; the others are scrolled to. */
const mostRows = 14;

/** The result: in words, step by step, and for each track. */
export function TriedPlay({ state, running }: { readonly state: RtspTried; readonly running: boolean }) {
  if (state.state === "untried") {
    return (
      <AnswerSection label="Answer">
        <AnswerNote>
          {running
            ? "Each request and answer appears here, then what arrives: codec, first picture, packets and losses. The session appears in Live, too."
            : "Start the service to play its streams."}
        </AnswerNote>
      </AnswerSection>
    );
  }
  return <Play key={state.at} state={state} />;
}

function Play({ state }: { readonly state: Tried }) {
  const { steps, moreSteps, tracks } = state;
  return (
    <AnswerSection label="Answer">
      <AnswerHead mark={<StateMark state={state} />} facts={factsText(state)} onShowInLive={() => goTo(servicePage("rtsp", "live"))} />
      <p className={styles.words} aria-live="polite">
        {wordsOf(state)}
      </p>
      <Ladder steps={steps}>
        {moreSteps > 0 && <Note className={styles.more}>{`Later steps are not kept: ${formatCount(moreSteps)}.`}</Note>}
        {tracks.map((track, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a track is its place.
          <TriedTrack key={index} index={index} track={track} />
        ))}
      </Ladder>
    </AnswerSection>
  );
}

function StateMark({ state: { state, failure, status } }: { readonly state: Tried }) {
  if (state !== "ended") return <ToneMark tone={state === "playing" ? "running" : "pending"} word={state} />;
  if (failure === undefined) return <ToneMark tone="ended" word="stopped" />;
  return <ToneMark tone={status !== undefined && status < 500 ? "refused" : "failed"} word={status === undefined ? "failed" : "refused"} />;
}

const factsText = ({ path, transport, tookMs }: Tried): string =>
  [shownText(`/${path}`), transportTitles[transport], ...(tookMs === undefined ? [] : [formatTook(tookMs)])].join(" · ");

/** What a refusal means here. */
const meanings: Readonly<Record<number, string>> = {
  401: "The path needs a user and a password, or they are wrong.",
  403: "This user may not play the path.",
  404: "There is no stream on this path now.",
  461: "The service does not offer this transport for it. Config has a switch for UDP and for multicast.",
  503: "The stream cannot be had now; Logs say why.",
};

function wordsOf({ state, failure, status, firstPacketMs, firstPictureMs, tracks, pictures }: Tried): string {
  if (failure !== undefined) return `${failure}. ${(status !== undefined && meanings[status]) || ""}`;
  const codecs = listText(tracks.map(({ codec }) => codecName(codec)));
  if (firstPacketMs === undefined) return state === "ended" ? "Stopped before a packet came." : "Waiting for the first packet.";
  const packets = tracks.reduce((sum, track) => sum + track.packets, 0);
  const lost = tracks.reduce((sum, track) => sum + track.lost, 0);
  const loss = lost === 0 ? "none lost" : `${formatCount(lost)} lost (${formatDecimals((100 * lost) / (lost + packets), 0, 2)} %)`;
  const first =
    firstPictureMs === undefined
      ? `first packet after ${formatTook(firstPacketMs)}, no whole picture yet`
      : `first packet after ${formatTook(firstPacketMs)}, first picture after ${formatTook(firstPictureMs)}`;
  return `${codecs}: ${first}; ${formatCountOf(pictures, "picture")} of ${formatCountOf(packets, "packet")}, ${loss}.`;
}

interface Rung extends RtspTryStep {
  readonly place: number;
}
const placeOf = ({ place }: Rung) => place;
const arrows = { sent: "↑ sent", received: "↓ received" } as const;

const columns: readonly Column<Rung>[] = [
  { id: "direction", title: "Direction", minSample: "↓ received", rank: 1, cell: ({ direction }) => arrows[direction] },
  { id: "at", title: "After", minSample: "00 m 00 s", align: "end", rank: 2, cell: ({ atMs }) => formatTook(atMs) },
  {
    id: "title",
    title: "Step",
    rank: 0,
    cell: ({ title, message }) => (message ? <code>{shownText(title)}</code> : <span className={styles.media}>{title}</span>),
  },
];

/** Requests, answers and first packets in their order, and the chosen message. The children are between them. */
function Ladder({ steps, children }: { readonly steps: readonly RtspTryStep[]; readonly children: ReactNode }) {
  const choice = useRowChoice(placeOf);
  const rungs = steps.map((step, place): Rung => ({ ...step, place }));
  const chosen = rungs.find(({ place }) => place === choice.chosen);
  return (
    <>
      <div className={styles.ladder} style={{ height: `calc(var(--bl-row) * ${Math.min(mostRows, Math.max(1, rungs.length)) + 1})` }}>
        <DataTable
          {...choice.tableProps}
          onOpen={choice.choose}
          label="Steps, in their order"
          count={rungs.length}
          rowAt={(index) => rungs[index]}
          columns={columns}
          empty={<AnswerNote>Connecting…</AnswerNote>}
        />
      </div>
      {chosen?.message && (
        <div className={styles.message}>
          <MessageContent title={chosen.direction === "sent" ? "Request" : "Answer"} message={chosen.message} />
        </div>
      )}
      {children}
    </>
  );
}

function TriedTrack({ index, track }: { readonly index: number; readonly track: RtspTriedTrack }) {
  const { codec, transport, packets, bytes, lost, jitterMs } = track;
  return (
    <Section title={`Track ${index}, ${codecName(codec)}`}>
      <Pairs>
        <Pair name="Transport">{transport}</Pair>
        <Pair name="Packets">{`${formatCount(packets)}, ${formatBytes(bytes)}`}</Pair>
        <Pair name="Lost">{formatCount(lost)}</Pair>
        <Pair name="Jitter">{formatTook(jitterMs)}</Pair>
      </Pairs>
    </Section>
  );
}
