import type { RtspTried, RtspTriedTrack, RtspTryStep } from "../../../../../contract/services/rtsp.ts";
import { goTo, servicePage } from "../../../app/route.ts";
import { Section } from "../../../inspectors/section.tsx";
import { ToneMark } from "../../../list/cells/tone-mark.tsx";
import type { Column } from "../../../list/columns/column.ts";
import { Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { formatBytes, formatCount, formatCountOf, formatDecimals, listText } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatTook } from "../../../ui/texts/time.ts";
import { AnswerHead, AnswerNote, AnswerSection, AnswerWords } from "../../try/answer-pane.tsx";
import { TriedSteps } from "../../try/tried-steps.tsx";
import { MessageContent } from "../message-content.tsx";
import { codecName } from "../picture/stream-texts.ts";
import { transportTitles } from "../player-lines.ts";
import styles from "./rtsp-try.module.css";

type Tried = Exclude<RtspTried, { readonly state: "untried" }>;

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
      <AnswerWords>{wordsOf(state)}</AnswerWords>
      <TriedSteps steps={steps.map((step, place) => ({ ...step, place }))} columns={columns} contentOf={contentOf} />
      {moreSteps > 0 && <Note className={styles.more}>{`Later steps are not kept: ${formatCount(moreSteps)}.`}</Note>}
      {tracks.map((track, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a track is its place.
        <TriedTrack key={index} index={index} track={track} />
      ))}
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

const contentOf = ({ direction, message }: Rung) =>
  message && (
    <div className={styles.message}>
      <MessageContent title={direction === "sent" ? "Request" : "Answer"} message={message} />
    </div>
  );

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
