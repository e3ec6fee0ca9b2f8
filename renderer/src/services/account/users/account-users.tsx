import { ActionIcon, Button, Divider } from "@mantine/core";
import { IconRestore, IconUserPlus } from "@tabler/icons-react";
import { useState } from "react";
import { type AccountUser, accountActions } from "../../../../../contract/services/account.ts";
import { InspectorSlot } from "../../../app/inspector-slot.tsx";
import { useControl } from "../../../control/client-context.tsx";
import { useService } from "../../../control/use-store.ts";
import { ColumnMenu, useColumnChoice } from "../../../list/columns/column-choice.tsx";
import { DataTable } from "../../../list/data-table.tsx";
import { ListPage } from "../../../list/list-page.tsx";
import { useRowChoice } from "../../../list/use-row-choice.ts";
import { type PageCommand, useCommands } from "../../../ui/commands.ts";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { FilterInput } from "../../../ui/forms/filter-input.tsx";
import { ServiceStopped } from "../../../ui/services/start-service-button.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { NoRows } from "../../../ui/status/empty-state.tsx";
import { attempt, notifyDone } from "../../../ui/status/notify.tsx";
import { formatCountOf, pluralOf } from "../../../ui/texts/quantity.ts";
import { Tooltip } from "../../../ui/tooltip.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { useAccountView } from "../account-service.ts";
import { AccountStatusLine } from "../account-status-line.tsx";
import { useAccountList } from "../use-account-list.ts";
import { AddUserDialog } from "./add-user-dialog.tsx";
import { userColumns } from "./user-columns.tsx";
import { UserInspector } from "./user-inspector.tsx";

const addUser = { id: "account-add-user", title: "Add a user…", keywords: "create new" };
const resetAll = { id: "account-reset", title: "Reset to sample data…" };
const shiftClock = {
  id: "account-clock",
  title: "Shift the clock of a user",
  keywords: "time expire tokens",
  where: "Open a user of the list",
};
/** What the palette finds of it. */
export const usersCommands: readonly PageCommand[] = [addUser, resetAll, shiftClock];

/** The users that may log in: list, add, edit, disable; the sample data can be restored. */
export function AccountUsers() {
  const client = useControl();
  const ask = useConfirm();
  const service = useService("account");
  const users = useAccountView("users");
  const totals = useAccountView("totals");
  const running = service?.status.state === "running";
  const [text, setText] = useRemembered("account.users.filter", "");
  const columns = useColumnChoice("account-users", userColumns);
  const choice = useRowChoice(userId);
  const [adding, setAdding] = useState(false);
  const { answer, loadMore, firstPages } = useAccountList<AccountUser>({
    name: "users",
    pushed: users && { rows: users.users, matching: users.matching },
    query: text.trim(),
    running,
    read: async (offset, limit) => {
      const found = await client.action(accountActions, "account", "user.list", { text: text.trim(), offset, limit });
      return { rows: found.users, matching: found.matching };
    },
  });
  const page = answer.value;
  const rows = page?.rows ?? [];

  const reset = async () => {
    const count = totals?.users ?? 0;
    const sure = await ask({
      title: "Reset Account to its sample data?",
      text: `${formatCountOf(count, "user")} with all sessions, tokens, invoices, services and DNS records ${pluralOf(count, "is", "are")} removed. This cannot be undone.`,
      action: "Reset to sample data",
    });
    if (!sure) return;
    choice.close();
    if (await attempt(client.action(accountActions, "account", "data.reset"))) notifyDone("Account was reset to its sample data");
  };

  useCommands(
    running
      ? [
          { ...addUser, run: () => setAdding(true) },
          { ...resetAll, run: () => void reset() },
        ]
      : [],
  );
  if (!running) return <ServiceStopped id="account" text="Its data is kept while it is stopped. Start the service to see its users." />;
  return (
    <ListPage
      label="Users"
      toolbarLabel="Users"
      filter={
        <FilterInput
          width={242}
          placeholder="E-mail, name"
          value={text}
          onChange={(next) => {
            firstPages();
            setText(next);
          }}
        />
      }
      tools={
        <>
          <Tooltip label="Reset to sample data…">
            <ActionIcon aria-label="Reset to sample data" onClick={() => void reset()}>
              <IconRestore size={15} stroke={1.5} />
            </ActionIcon>
          </Tooltip>
          <ColumnMenu all={userColumns} choice={columns} />
          <Divider orientation="vertical" h={14} style={{ alignSelf: "center" }} />
          <Button leftSection={<IconUserPlus size={14} stroke={1.5} />} onClick={() => setAdding(true)}>
            Add user
          </Button>
        </>
      }
      status={
        <AccountStatusLine
          shown={page && `showing ${rows.length} of ${formatCountOf(page.matching, "user")}${text.trim() ? " that match" : ""}`}
        />
      }
      below={
        <>
          <AddUserDialog opened={adding} onClose={() => setAdding(false)} onAdded={choice.openId} />
          {choice.opened && (
            <InspectorSlot shows={choice.opened.id}>
              <UserInspector key={choice.opened.id} id={choice.opened.id} revision={totals?.usersRevision ?? 0} onClose={choice.close} />
            </InspectorSlot>
          )}
        </>
      }
    >
      <Answered answer={answer} what="the users">
        {() => (
          <DataTable
            {...choice.tableProps}
            label="Users"
            count={rows.length}
            rowAt={(index) => rows[index]}
            columns={columns.columns}
            onEndNear={loadMore}
            empty={
              text.trim() === "" ? (
                <NoRows
                  text="No users. Add one, or reset to the sample data."
                  action="Reset to sample data…"
                  onAction={() => void reset()}
                />
              ) : (
                <NoRows text="No user matches the filter." action="Show all" onAction={() => setText("")} />
              )
            }
          />
        )}
      </Answered>
    </ListPage>
  );
}

const userId = (user: AccountUser) => user.id;
