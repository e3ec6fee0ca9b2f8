import { SegmentedControl } from "@mantine/core";
import { z } from "zod";
import { type AccountSession, accountActions } from "../../../../contract/services/account.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import { useControl } from "../../control/client-context.tsx";
import { useAnswer } from "../../control/use-answer.ts";
import { useService } from "../../control/use-store.ts";
import { ColumnMenu, useColumnChoice } from "../../list/columns/column-choice.tsx";
import { useWidthOfRows } from "../../list/columns/use-fitted-columns.ts";
import { DataTable } from "../../list/data-table.tsx";
import { ListPage } from "../../list/list-page.tsx";
import { useRowChoice } from "../../list/use-row-choice.ts";
import { useHandover } from "../../pages/service/handover.ts";
import { CommandLine } from "../../ui/copy/command-line.tsx";
import { FilterInput } from "../../ui/forms/filter-input.tsx";
import { ServiceStopped } from "../../ui/services/start-service-button.tsx";
import { Answered } from "../../ui/status/answered.tsx";
import { EmptyState, NoRows } from "../../ui/status/empty-state.tsx";
import { originOf } from "../../ui/texts/address.ts";
import { formatCountOf } from "../../ui/texts/quantity.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { exampleCommand, requestedUsers, useAccountView } from "./account-service.ts";
import { AccountStatusLine } from "./account-status-line.tsx";
import { began, sessionColumns } from "./session-columns.tsx";
import { SessionInspector } from "./session-inspector.tsx";
import { useAccountList } from "./use-account-list.ts";

const noSessions: readonly AccountSession[] = [];

type Scope = "all" | "live";
const scopes = [
  { value: "all", label: "All" },
  { value: "live", label: "Live" },
] as const;

/** Every login with its tokens, which can be expired or revoked individually. */
export function AccountSessions() {
  const client = useControl();
  const service = useService("account");
  const sessions = useAccountView("sessions");
  const tokens = useAccountView("tokens");
  const totals = useAccountView("totals");
  const running = service?.status.state === "running";
  const [text, setText] = useRemembered("account.sessions.filter", "");
  const [scope, setScope] = useRemembered<Scope>("account.sessions.scope", "all", z.enum(["all", "live"]));
  const columns = useColumnChoice("account-sessions", sessionColumns);
  const choice = useRowChoice(sessionId);
  useHandover(requestedUsers, "account", setText);

  const isFiltered = text.trim() !== "" || scope === "live";
  const { answer, loadMore, firstPages } = useAccountList<AccountSession>({
    name: "sessions",
    pushed: sessions && { rows: sessions.sessions, matching: sessions.matching },
    query: isFiltered ? `${scope} ${text.trim()}` : "",
    running,
    read: async (offset, limit) => {
      const query = { text: text.trim(), live: scope === "live", offset, limit };
      const found = await client.action(accountActions, "account", "session.list", query);
      return { rows: found.sessions, matching: found.matching };
    },
  });
  const page = answer.value;
  const rows = page?.rows ?? noSessions;
  const shownColumns = useWidthOfRows(columns.columns, "started", rows, began);
  const { opened } = choice;
  const listed = rows.find((session) => session.id === opened?.id);
  // A row that left the list stays open: it may have left because it ended.
  const unlisted = useAnswer({
    key: ["account", "session", opened?.id],
    ask: () => client.action(accountActions, "account", "session.read", { id: opened?.id ?? "" }),
    enabled: running && opened !== undefined && page !== undefined && !listed,
    version: tokens,
    keepsPrevious: false,
  });
  const shown = listed ?? unlisted.value ?? opened?.row;

  if (!running)
    return <ServiceStopped id="account" text="Its data is kept while it is stopped. Start the service to see sessions and tokens." />;
  return (
    <ListPage
      label="Sessions and tokens"
      toolbarLabel="Sessions"
      filter={
        <>
          <FilterInput
            width={242}
            placeholder="User, client, address"
            value={text}
            onChange={(next) => {
              firstPages();
              setText(next);
            }}
          />
          <SegmentedControl
            flex="none"
            aria-label="Sessions"
            data={scopes.map((entry) => ({ ...entry }))}
            value={scope}
            onChange={(next) => {
              firstPages();
              setScope(next as Scope);
            }}
          />
        </>
      }
      tools={<ColumnMenu all={sessionColumns} choice={columns} />}
      status={
        <AccountStatusLine
          shown={page && `showing ${rows.length} of ${formatCountOf(page.matching, "session")}${isFiltered ? " that match" : ""}`}
        />
      }
      below={
        shown && (
          <InspectorSlot shows={shown.id}>
            <SessionInspector
              key={shown.id}
              session={shown}
              version={tokens}
              revision={totals?.usersRevision ?? 0}
              onClose={choice.close}
            />
          </InspectorSlot>
        )
      }
    >
      <Answered answer={answer} what="the sessions">
        {() =>
          rows.length === 0 && !isFiltered ? (
            <EmptyState
              title="Nobody has logged in"
              text="Each login appears here with its tokens, decoded. Each can be expired or revoked. Log in from Try, or from a terminal:"
            >
              <CommandLine command={exampleCommand(originOf(service))} />
            </EmptyState>
          ) : (
            <DataTable
              {...choice.tableProps}
              label="Sessions, newest first"
              count={rows.length}
              rowAt={(index) => rows[index]}
              columns={shownColumns}
              onEndNear={loadMore}
              empty={
                <NoRows
                  text="No session matches the filter."
                  action="Show all"
                  onAction={() => {
                    setText("");
                    setScope("all");
                  }}
                />
              }
            />
          )
        }
      </Answered>
    </ListPage>
  );
}

const sessionId = (session: AccountSession) => session.id;
