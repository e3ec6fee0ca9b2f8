import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { type AccountUserDetails, accountActions, type ContactField, contactValue } from "../../../../../contract/services/account.ts";
import { useControl } from "../../../control/client-context.tsx";
import { failureOf } from "../../../control/failure-error.ts";
import { Caption } from "../../../ui/panel.tsx";
import { changesOf, contactOrder, contactTitles, draftOf, isEmail, type UserDraft } from "./user-draft.ts";
import styles from "./user-inspector.module.css";

interface UserContactProps {
  readonly user: AccountUserDetails;
  readonly onUser: (user: AccountUserDetails) => void;
}

/** Unsaved input by user: showing another user or tab keeps it. */
const unsaved = new Map<number, Partial<UserDraft>>();

/** The e-mail address for the login, and the contact: GET /details returns most of it. */
export function UserContact({ user, onUser }: UserContactProps) {
  const client = useControl();
  /** Edited fields; the others show the service's values. */
  const [typed, setTyped] = useState<Partial<UserDraft>>(() => unsaved.get(user.id) ?? {});
  function keep(fields: Partial<UserDraft>) {
    if (Object.keys(fields).length === 0) unsaved.delete(user.id);
    else unsaved.set(user.id, fields);
    setTyped(fields);
  }
  const draft: UserDraft = { ...draftOf(user), ...typed };
  const changes = changesOf(draft, user);
  const [saved, setSaved] = useState(false);
  const [refused, setRefused] = useState<string>();
  function type(part: Partial<UserDraft>) {
    setSaved(false);
    setRefused(undefined);
    keep({ ...typed, ...part });
  }
  const wrong = (name: ContactField) => contactValue(name).safeParse(draft[name]).error?.issues[0]?.message;
  const valid = isEmail(draft.email.trim()) && contactOrder.every((name) => wrong(name) === undefined);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!changes || !valid) return;
    try {
      onUser(await client.action(accountActions, "account", "user.edit", { id: user.id, ...changes }));
      keep({});
      setSaved(true);
    } catch (error) {
      setRefused(failureOf(error).message);
    }
  };
  return (
    <form className={styles.contact} onSubmit={(event) => void save(event)}>
      <div className={styles.fields}>
        <TextInput
          className={styles.wide}
          label="E-mail (login name)"
          value={draft.email}
          maxLength={200}
          error={isEmail(draft.email.trim()) ? undefined : "An e-mail address has one @, and neither spaces nor colons."}
          onChange={(event) => type({ email: event.currentTarget.value })}
        />
        {contactOrder.map((name) => (
          <TextInput
            key={name}
            label={contactTitles[name]}
            value={draft[name]}
            maxLength={200}
            error={wrong(name)}
            onChange={(event) => type({ [name]: event.currentTarget.value })}
          />
        ))}
      </div>
      <div className={styles.save}>
        <Caption grow className={refused && styles.refused} role="status" title={refused}>
          {refused ?? (changes ? "Not saved yet" : saved ? "Saved" : "")}
        </Caption>
        <Button
          disabled={!changes}
          onClick={() => {
            setRefused(undefined);
            keep({});
          }}
        >
          Revert
        </Button>
        <Button type="submit" variant={changes && valid ? "filled" : "default"} disabled={!changes || !valid}>
          Save
        </Button>
      </div>
    </form>
  );
}
