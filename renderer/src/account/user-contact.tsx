import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { type AccountUserDetails, accountActions } from "../../../contract/account.ts";
import { attempt, notifyDone } from "../components/notify.tsx";
import { useControl } from "../control/client-context.tsx";
import { changesOf, contactOrder, contactTitles, draftOf, isEmail, type UserDraft } from "./user-draft.ts";
import styles from "./user-inspector.module.css";

interface UserContactProps {
  readonly user: AccountUserDetails;
  readonly onUser: (user: AccountUserDetails) => void;
}

/** The e-mail address that logs in, and the contact that GET /details tells. */
export function UserContact({ user, onUser }: UserContactProps) {
  const client = useControl();
  /** Fields that were typed in; the rest follows what the service knows. */
  const [typed, setTyped] = useState<Partial<UserDraft>>({});
  const draft: UserDraft = { ...draftOf(user), ...typed };
  const changes = changesOf(draft, user);
  const valid = isEmail(draft.email.trim());
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!changes || !valid) return;
    const saved = client.action(accountActions, "account", "user.edit", { id: user.id, ...changes });
    const done = await attempt(
      saved.then((known) => {
        onUser(known);
        setTyped({});
      }),
    );
    if (done) notifyDone(`Saved ${draft.email.trim()}`);
  };
  return (
    <form className={styles.contact} onSubmit={(event) => void save(event)}>
      <div className={styles.fields}>
        <TextInput
          className={styles.wide}
          label="E-mail, which is the name to log in with"
          value={draft.email}
          maxLength={200}
          error={valid ? undefined : "An e-mail address has one @, and neither spaces nor colons."}
          onChange={(event) => setTyped({ ...typed, email: event.currentTarget.value })}
        />
        {contactOrder.map((name) => (
          <TextInput
            key={name}
            label={contactTitles[name]}
            value={draft[name]}
            maxLength={200}
            onChange={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
          />
        ))}
      </div>
      <div className={styles.save}>
        <span className={styles.hint}>{changes ? "Not saved yet" : "As GET /details tells it"}</span>
        <Button disabled={!changes} onClick={() => setTyped({})}>
          Revert
        </Button>
        <Button type="submit" variant={changes && valid ? "filled" : "default"} disabled={!changes || !valid}>
          Save
        </Button>
      </div>
    </form>
  );
}
