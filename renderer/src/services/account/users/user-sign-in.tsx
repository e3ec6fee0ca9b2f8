import { Button, Checkbox, PasswordInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { type AccountUserDetails, accountActions } from "../../../../../contract/services/account.ts";
import { goTo, servicePage } from "../../../app/route.ts";
import { useControl } from "../../../control/client-context.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { askForUser } from "../account-service.ts";
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
      <section className={styles.section} aria-label="Sessions of the user">
        <div className={styles.sectionHead}>
          <h3 className={styles.title}>Sessions</h3>
          <span className={styles.hint}>
            {user.enabled ? `${formatCountOf(user.liveSessions, "live session")}` : "Disabled: every login is refused"}
          </span>
          <Button
            onClick={() => {
              askForUser(user.email);
              goTo(servicePage("account", "sessions"));
            }}
          >
            Show sessions
          </Button>
          <Button onClick={onToggle}>{user.enabled ? "Disable" : "Enable"}</Button>
        </div>
        <dl className={styles.known}>
          <dt>Last login</dt>
          <dd>
            <LastLogin of={user.lastLogin} />
          </dd>
          <dt>From</dt>
          <dd>{user.lastAddress || "–"}</dd>
          <dt>DNS zones</dt>
          <dd>{user.zones}</dd>
        </dl>
      </section>
      <NewPassword user={user} onUser={onUser} />
      <SecondFactor user={user} onUser={onUser} />
      <section className={styles.section} aria-label="Clock">
        <ClockControl id={user.id} email={user.email} seconds={user.clockShiftSeconds} onUser={onUser} />
      </section>
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
    <section className={styles.section} aria-label="Password">
      <div className={styles.sectionHead}>
        <h3 className={styles.title}>Password</h3>
        <span className={styles.hint} role="status">
          {done && "The new password is set"}
        </span>
      </div>
      <form className={styles.row} onSubmit={(event) => void submit(event)}>
        <PasswordInput
          size="xs"
          className={styles.grow}
          aria-label="New password"
          placeholder="New password"
          value={password}
          maxLength={1_000}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": "Reveal the new password", tabIndex: 0, "aria-hidden": false }}
          onChange={(event) => {
            setDone(false);
            setPassword(event.currentTarget.value);
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
    </section>
  );
}
