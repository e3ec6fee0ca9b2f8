import { SegmentedControl } from "@mantine/core";
import { useCallback, useEffect, useRef, useState } from "react";
import { type AccountSession, accountActions } from "../../../../contract/services/account.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import { useControl } from "../../control/client-context.tsx";
import { useService } from "../../control/use-store.ts";
import { useColumnChoice } from "../../list/column-choice.ts";
import { ColumnMenu } from "../../list/column-menu.tsx";
import { DataTable, type DataTableHandle } from "../../list/data-table.tsx";
import listPage from "../../list/list-page.module.css";
import { CommandLine } from "../../ui/command-line.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { FilterInput } from "../../ui/filter-input.tsx";
import { Nothing } from "../../ui/nothing.tsx";
import { formatCountOf } from "../../ui/quantity.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { AccountStopped } from "./account-empty.tsx";
import { accountOrigin, exampleCommand } from "./account-origin.ts";
import { AccountStatusLine } from "./account-status-line.tsx";
import { sessionColumns } from "./session-columns.tsx";
import { SessionInspector } from "./session-inspector.tsx";
import { takeAskedUser } from "./shown-user.ts";
import { useAccountList } from "./use-account-list.ts";
import { useAccountViews } from "./use-account-views.ts";

type Scope = "all" | "live";
const scopes = [
  { value: "all", label: "All" },
  { value: "live", label: "Live" },
] as const;

/** Every login and the tokens that came of it, which can be expired or revoked one by one. */
export function AccountSessions() {
  const client = useControl();
  const service = useService("account");
  const views = useAccountViews();
  const running = service?.status.state === "running";
  const [asked] = useState(takeAskedUser);
  const [text, setText] = useRemembered("account.sessions.filter", "");
  const [scope, setScope] = useRemembered<Scope>("account.sessions.scope", "all");
  const choice = useColumnChoice("account-sessions", sessionColumns);
  const table = useRef<DataTableHandle>(null);
  const [chosen, setChosen] = useState<string>();
  const [opened, setOpened] = useState<AccountSession>();
  useEffect(() => {
    if (asked !== undefined) setText(asked);
  }, [asked, setText]);

  const isFiltered = text.trim() !== "" || scope === "live";
  const { page, loadMore, firstPages } = useAccountList<AccountSession>({
    told: views.sessions && { rows: views.sessions.sessions, matching: views.sessions.matching },
    query: isFiltered ? `${scope} ${text.trim()}` : "",
    running,
    read: async (offset, limit) => {
      const query = { text: text.trim(), live: scope === "live", offset, limit };
      const { sessions, matching } = await client.action(accountActions, "account", "session.list", query);
      return { rows: sessions, matching };
    },
  });
  const rows = page?.rows ?? [];
  const listed = rows.find((session) => session.id === opened?.id);
  const openedNow = listed ?? opened;
  const unlisted = opened !== undefined && listed === undefined ? opened.id : undefined;
  // What left the list goes on: it may have ended, and that is why it left.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the service tells is the signal to ask again.
  useEffect(() => {
    if (unlisted === undefined || !running) return;
    let wanted = true;
    client.action(accountActions, "account", "session.read", { id: unlisted }).then(
      (session) => wanted && setOpened(session ?? undefined),
      // The frame tells of a lost connection.
      () => {},
    );
    return () => {
      wanted = false;
    };
  }, [client, running, unlisted, page, views.tokens, views.totals]);

  const onChoose = useCallback((session: AccountSession) => {
    setChosen(session.id);
    setOpened((open) => (open === undefined ? undefined : session));
  }, []);
  const onOpen = useCallback((session: AccountSession) => {
    setChosen(session.id);
    setOpened(session);
  }, []);
  const onClose = useCallback(() => {
    setOpened(undefined);
    table.current?.focus();
  }, []);

  if (!running) return <AccountStopped service={service} what="sessions and tokens" />;
  return (
    <section className={listPage.page} aria-label="Sessions and tokens">
      <div className={listPage.toolbar} role="toolbar" aria-label="Sessions">
        <div className={listPage.filter}>
          <FilterInput
            width="100%"
            placeholder="Filter user, client, address"
            value={text}
            onChange={(next) => {
              firstPages();
              setText(next);
            }}
          />
        </div>
        <SegmentedControl
          className={listPage.scope}
          aria-label="Sessions"
          data={scopes.map((entry) => ({ ...entry }))}
          value={scope}
          onChange={(next) => {
            firstPages();
            setScope(next as Scope);
          }}
        />
        <span className={listPage.spring} />
        <ColumnMenu all={sessionColumns} choice={choice} />
      </div>
      <div className={listPage.list}>
        {page && rows.length === 0 && !isFiltered ? (
          <EmptyState
            title="Nobody has logged in"
            text="Each login appears here with its tokens, decoded; each can be expired or revoked on the spot. Log in from Try, or from a terminal:"
          >
            <CommandLine command={exampleCommand(accountOrigin(service))} />
          </EmptyState>
        ) : (
          <DataTable
            ref={table}
            label="Sessions, newest first"
            count={rows.length}
            rowAt={(index) => rows[index]}
            rowId={sessionId}
            columns={choice.columns}
            chosen={chosen}
            onChoose={onChoose}
            onOpen={onOpen}
            onClose={onClose}
            onEndNear={loadMore}
            empty={
              page && (
                <Nothing
                  text="No session matches the filter."
                  action="Show all"
                  onAction={() => {
                    setText("");
                    setScope("all");
                  }}
                />
              )
            }
          />
        )}
      </div>
      <AccountStatusLine
        views={views}
        shown={page && `showing ${rows.length} of ${formatCountOf(page.matching, "session")}${isFiltered ? " that match" : ""}`}
      />
      {openedNow && (
        <InspectorSlot>
          <SessionInspector
            key={openedNow.id}
            session={openedNow}
            told={views.tokens}
            revision={views.totals?.usersRevision ?? 0}
            onClose={onClose}
          />
        </InspectorSlot>
      )}
    </section>
  );
}

const sessionId = (session: AccountSession) => session.id;
