import { Button } from "@mantine/core";
import { type AccountToken, accountActions } from "../../../../contract/services/account.ts";
import { useControl } from "../../control/client-context.tsx";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import { SectionTitle } from "../../ui/panel.tsx";
import { attempt } from "../../ui/status/notify.tsx";
import { useNow } from "../../ui/status/since.tsx";
import { shownText } from "../../ui/texts/shown-text.ts";
import { isoTime } from "../../ui/texts/time.ts";
import { StateMark } from "./state-mark.tsx";
import styles from "./token-card.module.css";
import { type Claims, claimLines } from "./try/claim-lines.ts";
import { timeLeft, wallTime } from "./wall-time.ts";

const titles: Readonly<Record<AccountToken["kind"], string>> = { access: "Access", refresh: "Refresh", mfa: "Second factor" };

/** One decoded token with its actions; the signed text is not stored. */
export function TokenCard({ token }: { readonly token: AccountToken }) {
  const client = useControl();
  const now = useNow();
  const { id, state } = token;
  // The service reports the expiry a little later.
  const shownState = state === "live" && token.endsAt <= now ? "expired" : state;
  const live = shownState === "live";
  return (
    <article className={styles.card} aria-label={`${titles[token.kind]} token`}>
      <div className={styles.head}>
        <SectionTitle as="h4">{titles[token.kind]}</SectionTitle>
        <StateMark state={shownState} />
        <span className={styles.left} title={`${live ? "Time left. " : ""}By the user's clock it ends at ${isoTime(token.expiresAt)}`}>
          {live ? timeLeft(token.endsAt - now) : shownState === "expired" ? `at ${wallTime(token.expiresAt)}` : ""}
        </span>
        {live && (
          <>
            <Button size="compact-xs" onClick={() => void attempt(client.action(accountActions, "account", "token.expire", { id }))}>
              Expire now
            </Button>
            <Button size="compact-xs" onClick={() => void attempt(client.action(accountActions, "account", "token.revoke", { id }))}>
              Revoke now
            </Button>
          </>
        )}
        <CopyButton text={() => JSON.stringify({ header: token.header, payload: token.payload }, null, 2)} what="the claims as JSON" />
      </div>
      <ClaimList claims={token} />
    </article>
  );
}

/** Header and claims of a token, one per line. */
export function ClaimList({
  claims,
  className = "",
  label,
}: {
  readonly claims: Claims;
  readonly className?: string;
  readonly label?: string;
}) {
  return (
    <dl className={`${styles.claims} ${className}`} aria-label={label}>
      {claimLines(claims).map(({ name, value, note }) => (
        <div key={name}>
          <dt>{shownText(name)}</dt>
          <dd>
            {shownText(value)}
            {note && <span className={styles.note}>{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
