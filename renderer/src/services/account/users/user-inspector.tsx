import { ActionIcon, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { type AccountUserDetails, accountActions } from "../../../../../contract/services/account.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { InspectorFrame, InspectorNote, InspectorTabs } from "../../../inspectors/inspector-frame.tsx";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { attempt, notifyDone } from "../../../ui/status/notify.tsx";
import { formatCountOf, pluralOf } from "../../../ui/texts/quantity.ts";
import { StateMark, userState } from "../state-mark.tsx";
import { UserContact } from "./user-contact.tsx";
import { UserSignIn } from "./user-sign-in.tsx";

interface UserInspectorProps {
  readonly id: number;
  /** Counts up with every change of users. */
  readonly revision: number;
  readonly onClose: () => void;
}

/** One user: sign-in, clock and contact. */
export function UserInspector({ id, revision, onClose }: UserInspectorProps) {
  const client = useControl();
  const ask = useConfirm();
  const answer = useAnswer({
    key: ["account", "user", id],
    ask: () => client.action(accountActions, "account", "user.read", { id }),
    version: revision,
    keepsPrevious: false,
  });
  const { value: user, set: setUser } = answer;

  const toggle = async (of: AccountUserDetails) => {
    const sure =
      !of.enabled ||
      of.liveSessions === 0 ||
      (await ask({
        title: `Disable ${of.email}?`,
        text: `${formatCountOf(of.liveSessions, "live session")} ${pluralOf(of.liveSessions, "ends", "end")} now. The user cannot log in until enabled again.`,
        action: "Disable user",
      }));
    if (sure) await attempt(client.action(accountActions, "account", "user.enable", { id, enabled: !of.enabled }).then(setUser));
  };
  const remove = async (of: AccountUserDetails) => {
    const sure = await ask({
      title: `Remove ${of.email}?`,
      text: "The user is removed with all sessions, tokens, invoices, services and DNS records. This cannot be undone.",
      action: "Remove user",
    });
    if (!sure || !(await attempt(client.action(accountActions, "account", "user.remove", { id })))) return;
    notifyDone(`Removed ${of.email}`);
    onClose();
  };

  return (
    <InspectorFrame
      title={user?.email ?? `User ${id}`}
      hint={user?.email}
      mark={user && <StateMark state={userState(user)} />}
      actions={
        user && (
          <Menu position="bottom-end" withinPortal={false} width={168}>
            <Menu.Target>
              <ActionIcon aria-label={`More for ${user.email}`}>
                <IconDots size={16} stroke={1.5} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => void toggle(user)}>{user.enabled ? "Disable user…" : "Enable user"}</Menu.Item>
              <Menu.Item onClick={() => void remove(user)}>Remove user…</Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )
      }
      onClose={onClose}
    >
      <Answered answer={answer} what="the user" compact>
        {(known) =>
          known === null ? (
            <InspectorNote>This user no longer exists: it was removed, or the sample data was reset.</InspectorNote>
          ) : (
            <InspectorTabs
              rememberAs="account.user.tab"
              tabs={[
                {
                  name: "sign-in",
                  title: "Sign-in",
                  content: <UserSignIn user={known} onUser={setUser} onToggle={() => void toggle(known)} />,
                },
                { name: "contact", title: "Contact", content: <UserContact user={known} onUser={setUser} /> },
              ]}
            />
          )
        }
      </Answered>
    </InspectorFrame>
  );
}
