import { useEffect, useRef } from "react";
import { goTo, servicePage } from "../../../app/route.ts";
import { Section } from "../../../inspectors/section.tsx";
import { ToneMark } from "../../../list/cells/tone-mark.tsx";
import type { Column } from "../../../list/columns/column.ts";
import { TextBlock } from "../../../ui/copy/text-block.tsx";
import { Pair, Pairs } from "../../../ui/panel.tsx";
import { formatBytes, formatCount, formatRate, pluralOfRate } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatTook } from "../../../ui/texts/time.ts";
import { AnswerHead, AnswerNote, AnswerSection, AnswerWords } from "../../try/answer-pane.tsx";
import { TriedSteps } from "../../try/tried-steps.tsx";
import { IceCheckResult, VerdictMark } from "../ice-check/ice-check-panel.tsx";
import { requestedLadders } from "../ladder/ladder-scope.ts";
import type { CallFigures } from "./call-figures.ts";
import type { CallStep, CallView } from "./peer-call.ts";
import styles from "./webrtc-try.module.css";

/** The result of a call: in words, step by step, with pictures and figures, and what the service saw. */
export function TriedCall({ view, running }: { readonly view: CallView; readonly running: boolean }) {
  if (view.state === "untried") {
    return (
      <AnswerSection label="Answer">
        <AnswerNote>
          {running
            ? "Two peers join a room of their own and call one another: each step appears here with its time, then the pictures that arrive, and why it failed if it did. Their signals and relays appear in the other tabs, too."
            : "Start the service to call through it."}
        </AnswerNote>
      </AnswerSection>
    );
  }
  return <Call key={view.at} view={view} />;
}

function Call({ view }: { readonly view: CallView }) {
  const { draft, tookMs, streams, figures, check, peers, state } = view;
  const way = draft.way === "any" ? "any way" : `by relay over ${draft.transport.toUpperCase()}`;
  return (
    <AnswerSection label="Answer">
      <AnswerHead
        mark={<StateMark view={view} />}
        shownIn="Signals"
        facts={[way, ...(tookMs === undefined ? [] : [formatTook(tookMs)])].join(" · ")}
        onShowInLive={
          peers.length === 2
            ? () => {
                requestedLadders.give("webrtc", { room: "", peers });
                goTo(servicePage("webrtc", "signals"));
              }
            : undefined
        }
      />
      <AnswerWords>{shownText(wordsOf(view))}</AnswerWords>
      {draft.video && state === "connected" && (
        <div className={styles.pictures}>
          {streams.map((stream, place) => (
            <Picture key={stream.id} stream={stream} title={`What ${place === 0 ? "A" : "B"} gets`} figures={figures[place]} />
          ))}
        </div>
      )}
      <TriedSteps steps={view.steps} columns={columns} contentOf={contentOf} />
      {check && (
        <Section title="What the service saw" actions={<VerdictMark check={check} />}>
          <ul className={styles.check}>
            <IceCheckResult check={check} names={{}} />
          </ul>
        </Section>
      )}
      {figures.map((one, place) => (
        <Section key={place === 0 ? "A" : "B"} title={place === 0 ? "Peer A" : "Peer B"}>
          <Pairs>
            <Pair name="Pair" mono>
              {one.pair}
            </Pair>
            {one.roundTripMs !== undefined && <Pair name="Round trip">{formatTook(one.roundTripMs)}</Pair>}
            <Pair name="Sent">{formatBytes(one.bytesSent)}</Pair>
            <Pair name="Received">{formatBytes(one.bytesReceived)}</Pair>
            {draft.video && <Pair name="Pictures">{`${formatCount(one.pictures)}, ${formatRate(one.frameRate)}/s`}</Pair>}
          </Pairs>
        </Section>
      ))}
    </AnswerSection>
  );
}

function StateMark({ view: { state, failure, connectedMs } }: { readonly view: CallView }) {
  if (state === "connected") return <ToneMark tone="running" word="connected" />;
  if (state !== "ended") return <ToneMark tone="pending" word={state} />;
  if (failure !== undefined) return <ToneMark tone="failed" word="failed" />;
  return <ToneMark tone="ended" word={connectedMs === undefined ? "stopped" : "hung up"} />;
}

function wordsOf({ state, failure, check, connectedMs, firstPictureMs, roundTripMs, draft }: CallView): string {
  if (failure !== undefined) {
    const cause = check?.findings.find(({ tone }) => tone === "bad");
    return `${failure.charAt(0).toUpperCase()}${failure.slice(1)}. ${cause ? `${cause.text} ${cause.advice}` : ""}`;
  }
  if (connectedMs === undefined) return state === "ended" ? "Stopped before they were connected." : "Waiting for a connection.";
  const parts = [`Connected after ${formatTook(connectedMs)}`];
  if (draft.data)
    parts.push(roundTripMs === undefined ? "no message came back yet" : `a message there and back in ${formatTook(roundTripMs)}`);
  if (draft.video) parts.push(firstPictureMs === undefined ? "no picture yet" : `first picture after ${formatTook(firstPictureMs)}`);
  return `${parts.join("; ")}.`;
}

function Picture({
  stream,
  title,
  figures,
}: {
  readonly stream: MediaStream;
  readonly title: string;
  readonly figures: CallFigures | undefined;
}) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const { current } = video;
    if (!current) return;
    current.srcObject = stream;
    void current.play().catch(() => {});
    return () => {
      current.srcObject = null;
    };
  }, [stream]);
  return (
    <figure className={styles.picture}>
      <video ref={video} muted autoPlay playsInline aria-label={title} />
      <figcaption>
        {title}
        {figures && <span>{`${formatRate(figures.frameRate)} ${pluralOfRate(figures.frameRate, "picture", "pictures")}/s`}</span>}
      </figcaption>
    </figure>
  );
}

const columns: readonly Column<CallStep>[] = [
  { id: "at", title: "After", minSample: "00 m 00 s", align: "end", rank: 1, cell: ({ atMs }) => formatTook(atMs) },
  { id: "who", title: "Who", minSample: "Backlot → B", rank: 0, cell: ({ from, to }) => (to === undefined ? from : `${from} → ${to}`) },
  {
    id: "step",
    title: "Step",
    rank: 0,
    cell: ({ title, tone }) => (
      <span className={styles.step} data-tone={tone} title={shownText(title)}>
        {shownText(title)}
      </span>
    ),
  },
];

const contentOf = ({ text }: CallStep) =>
  text !== undefined && (
    <div className={styles.text}>
      <TextBlock>{text}</TextBlock>
    </div>
  );
