import { ActionIcon, Button, Divider, Tooltip } from "@mantine/core";
import { IconRestore, IconUserPlus } from "@tabler/icons-react";
import { useCallback, useRef, useState } from "react";
import { type AccountUser, accountActions } from "../../../../contract/services/account.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import { useControl } from "../../control/client-context.tsx";
import { useService } from "../../control/use-store.ts";
import { useColumnChoice } from "../../list/column-choice.ts";
import { ColumnMenu } from "../../list/column-menu.tsx";
import { DataTable, type DataTableHandle } from "../../list/data-table.tsx";
import listPage from "../../list/list-page.module.css";
import { useConfirm } from "../../ui/confirm.tsx";
import { FilterInput } from "../../ui/filter-input.tsx";
import { Nothing } from "../../ui/nothing.tsx";
import { attempt, notifyDone } from "../../ui/notify.tsx";
import { formatCountOf } from "../../ui/quantity.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { AccountStopped } from "./account-empty.tsx";
import { AccountStatusLine } from "./account-status-line.tsx";
import { AddUserDialog } from "./add-user-dialog.tsx";
import { useAccountList } from "./use-account-list.ts";
import { useAccountViews } from "./use-account-views.ts";
import { userColumns } from "./user-columns.tsx";
import { UserInspector } from "./user-inspector.tsx";

/** Who may log in: list, add, edit, disable; the sample data can be put back. */
export function AccountUsers() {
  const client = useControl();
  const ask = useConfirm();
  const service = useService("account");
  const views = useAccountViews();
  const running = service?.status.state === "running";
  const [text, setText] = useRemembered("account.users.filter", "");
  const choice = useColumnChoice("account-users", userColumns);
  const table = useRef<DataTableHandle>(null);
  const [opened, setOpened] = useState<number>();
  const [chosen, setChosen] = useState<number>();
  const [adding, setAdding] = useState(false);
  const { page, loadMore, firstPages } = useAccountList<AccountUser>({
    told: views.users && { rows: views.users.users, matching: views.users.matching },
    query: text.trim(),
    running,
    read: async (offset, limit) => {
      const { users, matching } = await client.action(accountActions, "account", "user.list", { text: text.trim(), offset, limit });
      return { rows: users, matching };
    },
  });
  const rows = page?.rows ?? [];

  const onChoose = useCallback((user: AccountUser) => {
    setChosen(user.id);
    setOpened((id) => (id === undefined ? undefined : user.id));
  }, []);
  const onOpen = useCallback((user: AccountUser) => {
    setChosen(user.id);
    setOpened(user.id);
  }, []);
  const onClose = useCallback(() => {
    setOpened(undefined);
    table.current?.focus();
  }, []);

  const reset = async () => {
    const users = views.totals?.users ?? 0;
    const sure = await ask({
      title: "Reset Account to its sample data?",
      text: `${formatCountOf(users, "user")} with all sessions, tokens, invoices, services and DNS records ${users === 1 ? "goes" : "go"}. This cannot be undone.`,
      action: "Reset to sample data",
    });
    if (!sure) return;
    onClose();
    if (await attempt(client.action(accountActions, "account", "data.reset"))) notifyDone("The sample data is back");
  };

  if (!running) return <AccountStopped service={service} what="its users" />;
  return (
    <section className={listPage.page} aria-label="Users">
      <div className={listPage.toolbar} role="toolbar" aria-label="Users">
        <div className={listPage.filter}>
          <FilterInput
            width="100%"
            placeholder="Filter e-mail, name"
            value={text}
            onChange={(next) => {
              firstPages();
              setText(next);
            }}
          />
        </div>
        <span className={listPage.spring} />
        <Tooltip label="Reset to sample data…">
          <ActionIcon aria-label="Reset to sample data" onClick={() => void reset()}>
            <IconRestore size={15} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
        <ColumnMenu all={userColumns} choice={choice} />
        <Divider orientation="vertical" h={14} style={{ alignSelf: "center" }} />
        <Button leftSection={<IconUserPlus size={14} stroke={1.5} />} onClick={() => setAdding(true)}>
          Add user
        </Button>
      </div>
      <div className={listPage.list}>
        <DataTable
          ref={table}
          label="Users"
          count={rows.length}
          rowAt={(index) => rows[index]}
          rowId={userId}
          columns={choice.columns}
          chosen={chosen}
          onChoose={onChoose}
          onOpen={onOpen}
          onClose={onClose}
          onEndNear={loadMore}
          empty={
            page &&
            (text.trim() === "" ? (
              <Nothing
                text="There is no user. Add one, or reset to the sample data."
                action="Reset to sample data…"
                onAction={() => void reset()}
              />
            ) : (
              <Nothing text="No user matches the filter." action="Show all" onAction={() => setText("")} />
            ))
          }
        />
      </div>
      <AccountStatusLine
        views={views}
        shown={page && `showing ${rows.length} of ${formatCountOf(page.matching, "user")}${text.trim() ? " that match" : ""}`}
      />
      <AddUserDialog
        opened={adding}
        onClose={() => setAdding(false)}
        onAdded={(id) => {
          setChosen(id);
          setOpened(id);
        }}
      />
      {opened !== undefined && (
        <InspectorSlot>
          <UserInspector key={opened} id={opened} revision={views.totals?.usersRevision ?? 0} onClose={onClose} />
        </InspectorSlot>
      )}
    </section>
  );
}

const userId = (user: AccountUser) => user.id;
