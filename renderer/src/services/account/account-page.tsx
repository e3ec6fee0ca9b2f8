import { httpInspectors } from "../../inspectors/http-inspectors.ts";
import { httpRowCommands } from "../../inspectors/http-row-commands.ts";
import { httpColumns, statusScopes } from "../../list/columns/http-columns.tsx";
import { allTerms, httpStatuses } from "../../list/filter/filter-terms.ts";
import { contentTab, defineServicePage, trafficTab, tryTab } from "../../pages/service/define-service-page.ts";
import { nounOf } from "../../ui/texts/quantity.ts";
import { accountColumns } from "./account-columns.tsx";
import { exampleCommand, sampleLogin } from "./account-service.ts";
import { AccountSessions } from "./account-sessions.tsx";
import { AccountTry } from "./try/account-try.tsx";
import { callOfExchange, recordedCalls } from "./try/try-draft.ts";
import { AccountUsers, usersCommands } from "./users/account-users.tsx";

const sessionCommands = [
  {
    id: "account-expire",
    title: "Expire or revoke a token now",
    keywords: "session logout access refresh end",
    where: "Open a session of the list",
  },
];

export const accountPage = defineServicePage({
  id: "account",
  color: "--bl-s3",
  minSample: { verb: "OPTIONS", outcome: "pending" },
  inspectors: httpInspectors,
  rowCommands: httpRowCommands((exchange, { user }) => recordedCalls.give("account", callOfExchange(exchange, user))),
  tabs: [
    trafficTab({
      item: nounOf("request"),
      columns: accountColumns(httpColumns),
      scopes: statusScopes,
      filterPlaceholder: "Path, user, reason",
      filterTerms: { ...allTerms, statuses: httpStatuses },
      details: "headers and bodies",
      empty: {
        nothing: "No calls yet.",
        point: (origin) => (
          <>
            your client at <code>{origin}</code> and log in as <code>{sampleLogin.username}</code>, password{" "}
            <code>{sampleLogin.password}</code>.
          </>
        ),
        watch: "each call appear here, with its user and the reason if it was refused.",
        appears: [
          ["call", "method, path and status, with headers, body and time"],
          ["user", "of the token or of Basic, also where the call was refused"],
          ["reason", "wrong password, token expired or revoked, too many attempts, unknown field"],
        ],
        command: exampleCommand,
      },
    }),
    contentTab("users", "Users", AccountUsers, usersCommands),
    contentTab("sessions", "Sessions", AccountSessions, sessionCommands),
    tryTab(AccountTry),
  ],
});
