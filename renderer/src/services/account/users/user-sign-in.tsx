import { Button, Checkbox } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { type AccountUserDetails, accountActions } from "../../../../../contract/services/account.ts";
import { goTo, servicePage } from "../../../app/route.ts";
import { useControl } from "../../../control/client-context.tsx";
import { Section } from "../../../inspectors/section.tsx";
import { PasswordField } from "../../../ui/forms/password-field.tsx";
import { Pair, Pairs } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { requestedUsers } from "../account-service.ts";
import { ClockControl } from "./clock-control.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { LastLogin } from "./user-columns.tsx";
import styles from "./user-inspector.module.css";

interface UserSignInProps {
  readonly user: AccountUserDetails;
  readonly onUser: (user: AccountUserDetails) => void;
  readonly onToggle: () => void;
}

export function UserSignIn({ user, onUser, onToggle }: UserSignInProps) {
  return (
    <>
      <Section
        title="Sessions"
        facts={user.enabled ? formatCountOf(user.liveSessions, "live session") : "Disabled: every login is refused"}
        actions={
          <>
            <Button
              onClick={() => {
                requestedUsers.give("account", user.email);
                goTo(servicePage("account", "sessions"));
              }}
            >
              Show sessions
            </Button>
            <Button onClick={onToggle}>{user.enabled ? "Disable" : "Enable"}</Button>
          </>
        }
      >
        <Pairs>
          <Pair name="Last login" mono>
            <LastLogin of={user.lastLogin} />
          </Pair>
          <Pair name="From" mono>
            {user.lastAddress || "–"}
          </Pair>
          <Pair name="DNS zones" mono>
            {user.zones}
          </Pair>
        </Pairs>
      </Section>
      <NewPassword user={user} onUser={onUser} />
      <SecondFactor user={user} onUser={onUser} />
      <ClockControl id={user.id} email={user.email} seconds={user.clockShiftSeconds} onUser={onUser} />
    </>
  );
}

function NewPassword({ user, onUser }: Pick<UserSignInProps, "user" | "onUser">) {
  const client = useControl();
  const [password, setPassword] = useState("");
  const [endSessions, setEndSessions] = useState(true);
  const [done, setDone] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (password === "") return;
    const set = client.action(accountActions, "account", "user.setPassword", { id: user.id, password, endSessions });
    if (!(await attempt(set.then(onUser)))) return;
    setPassword("");
    setDone(true);
  };
  return (
    <Section title="Password" facts={<span role="status">{done && "The new password is set"}</span>}>
      <form className={styles.row} onSubmit={(event) => void submit(event)}>
        <PasswordField
          className={styles.grow}
          aria-label="New password"
          placeholder="New password"
          value={password}
          maxLength={1_000}
          autoComplete="new-password"
          onChange={(value) => {
            setDone(false);
            setPassword(value);
          }}
        />
        <Button type="submit" disabled={password === ""}>
          Set password
        </Button>
      </form>
      <Checkbox
        size="xs"
        mt="sm"
        label="End every session of the user"
        checked={endSessions}
        onChange={(event) => setEndSessions(event.currentTarget.checked)}
      />
    </Section>
  );
}
