import { type AccountViews, accountActions } from "../../../../contract/services/account.ts";
import { useControl } from "../../control/client-context.tsx";
import { CellText } from "../../list/cells/cell-text.tsx";
import { Fact, SinceStart, StatusLink } from "../../list/list-status.tsx";
import { attempt, notifyDone } from "../../ui/status/notify.tsx";
import { formatCountOf } from "../../ui/texts/quantity.ts";
import { Facts, StatusLine } from "../../ui/toolbar.tsx";
import { useAccountView } from "./account-service.ts";

interface AccountStatusLineProps {
  /** Which part of the list is shown. */
  readonly shown: string | undefined;
}

/** The number of shown rows, sessions and tokens, and accounts close to the limit of failed logins. */
export function AccountStatusLine({ shown }: AccountStatusLineProps) {
  const totals = useAccountView("totals");
  const limits = useAccountView("limits");
  return (
    <StatusLine>
      <Facts>
        {shown && <Fact>{shown}</Fact>}
        {totals && <Fact>{formatCountOf(totals.liveSessions, "live session")}</Fact>}
        {totals && <Fact>{formatCountOf(totals.liveTokens, "live token")}</Fact>}
        {limits && limits.busiest.length > 0 && <Failures limits={limits} />}
      </Facts>
      {totals && (
        <SinceStart>
          {`since start: ${formatCountOf(totals.logins, "login")}, ${formatCountOf(totals.failedLogins, "failed login")}`}
        </SinceStart>
      )}
    </StatusLine>
  );
}

function Failures({ limits }: { readonly limits: AccountViews["limits"] }) {
  const client = useControl();
  const busiest = limits.busiest[0];
  if (!busiest) return null;
  const isFull = busiest.failures >= limits.failures;
  const list = limits.busiest.map(({ kind, name, failures }) => `${kind} ${name}: ${failures}`).join("\n");
  const forget = async () => {
    if (await attempt(client.action(accountActions, "account", "limits.reset"))) notifyDone("Cleared the count of failed logins");
  };
  return (
    <span title={`Failed logins in ${limits.windowSeconds} s, of ${limits.failures} allowed:\n${list}`}>
      <CellText tone={isFull ? "warn" : undefined}>
        {`${busiest.failures} of ${limits.failures} failed logins${isFull ? ", refused now" : ""}`}
      </CellText>{" "}
      <StatusLink onClick={() => void forget()}>Forget</StatusLink>
    </span>
  );
}
