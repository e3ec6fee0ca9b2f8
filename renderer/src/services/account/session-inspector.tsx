import { Button } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { type AccountSession, type AccountToken, type AccountTokenPage, accountActions } from "../../../../contract/services/account.ts";
import { useControl } from "../../control/client-context.tsx";
import { useAnswer } from "../../control/use-answer.ts";
import { InspectorFrame, InspectorPanel } from "../../inspectors/inspector-frame.tsx";
import { Section } from "../../inspectors/section.tsx";
import { useConfirm } from "../../ui/forms/confirm.tsx";
import { Pair, Pairs } from "../../ui/panel.tsx";
import { Answered } from "../../ui/status/answered.tsx";
import { attempt } from "../../ui/status/notify.tsx";
import { formatCount, formatCountOf, pluralOf } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { isoTime } from "../../ui/texts/time.ts";
import { StateMark } from "./state-mark.tsx";
import { TokenCard } from "./token-card.tsx";
import { ClockControl } from "./users/clock-control.tsx";
import { wallTimeMs } from "./wall-time.ts";

interface SessionInspectorProps {
  readonly session: AccountSession;
  /** Changes with each change of any token. */
  readonly version: unknown;
  /** Counts up with every change of users. */
  readonly revision: number;
  readonly onClose: () => void;
}

/** One login: its origin, its decoded tokens, and the clock that decides whether they are valid. */
export function SessionInspector({ session, version, revision, onClose }: SessionInspectorProps) {
  const client = useControl();
  const ask = useConfirm();
  const { id, userId, email } = session;
  const tokens = useAnswer({
    key: ["account", "tokens", id],
    ask: () => client.action(accountActions, "account", "token.list", { session: id, limit: 100 }),
    version,
  });
  const user = useAnswer({
    key: ["account", "user", userId],
    ask: () => client.action(accountActions, "account", "user.read", { id: userId }),
    version: revision,
  });
  const inspector = useRef<HTMLDivElement>(null);
  // A token that has ended loses its buttons, and they the focus: it moves here, so that keys still work.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new answer renders different buttons.
  useEffect(() => {
    if (document.activeElement === document.body) inspector.current?.focus({ preventScroll: true });
  }, [tokens.value, session.state]);

  const end = async () => {
    const sure = await ask({
      title: `End this session of ${email}?`,
      text: `${formatCountOf(session.liveTokens, "live token")} ${pluralOf(session.liveTokens, "is", "are")} revoked. The client has to log in again.`,
      action: "End session",
    });
    if (sure) await attempt(client.action(accountActions, "account", "session.end", { id }));
  };
  return (
    <InspectorFrame
      ref={inspector}
      title={email}
      hint={email}
      mark={<StateMark state={session.state} title={session.ended} />}
      actions={session.state !== "ended" && <Button onClick={() => void end()}>End session</Button>}
      onClose={onClose}
    >
      <InspectorPanel label={`Session of ${email}`}>
        <Section title="Session">
          <Pairs>
            <Pair name="Began" mono title={isoTime(session.startedAt)}>
              {wallTimeMs(session.startedAt)}
            </Pair>
            <Pair name="Client" mono>{`${shownText(session.client) || "unknown client"} at ${session.address}`}</Pair>
            <Pair name="Id" mono>
              {id}
            </Pair>
            {session.ended && (
              <Pair name="Ended" mono>
                {session.ended}
              </Pair>
            )}
          </Pairs>
        </Section>
        <Answered answer={tokens} what="the tokens" compact>
          {(page) => <Tokens page={page} live={session.liveTokens} />}
        </Answered>
        <Answered answer={user} what="the user's clock" compact>
          {(known) => known && <ClockControl id={userId} email={email} seconds={known.clockShiftSeconds} onUser={user.set} />}
        </Answered>
      </InspectorPanel>
    </InspectorFrame>
  );
}

/**
 * The tokens that were live while the inspector was open: one that has ended keeps its place, so that no button of another comes under the
 * pointer.
 */
function useSeenLive(tokens: readonly AccountToken[]): ReadonlySet<AccountToken["id"]> {
  const [seen, setSeen] = useState<ReadonlySet<AccountToken["id"]>>(new Set());
  const added = tokens.filter(({ id, state }) => state === "live" && !seen.has(id));
  if (added.length === 0) return seen;
  const next = new Set([...seen, ...added.map(({ id }) => id)]);
  setSeen(next);
  return next;
}

/** Live tokens; the others on request. */
function Tokens({ page, live: liveInAll }: { readonly page: AccountTokenPage; readonly live: number }) {
  const [all, setAll] = useState(false);
  const isLive = (token: AccountToken) => token.state === "live";
  const newestOver = page.tokens.find((token) => !isLive(token));
  const seenLive = useSeenLive(page.tokens);
  const live = page.tokens.filter(({ id }) => seenLive.has(id));
  const shown = all ? page.tokens : live.length > 0 || !newestOver ? live : [newestOver];
  const hidden = page.tokens.length - shown.length;
  return (
    <Section
      title="Tokens"
      facts={`${formatCount(liveInAll)} live of ${formatCount(page.matching)}${page.matching > page.tokens.length ? `, the newest ${page.tokens.length} here` : ""}`}
      actions={
        (hidden > 0 || all) && (
          <Button size="compact-xs" variant="subtle" onClick={() => setAll(!all)}>
            {all ? "Show live only" : `Show ${hidden} more`}
          </Button>
        )
      }
    >
      {shown.map((token) => (
        <TokenCard key={token.id} token={token} />
      ))}
    </Section>
  );
}
