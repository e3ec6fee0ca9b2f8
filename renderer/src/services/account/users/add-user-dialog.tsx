import { Button, Checkbox, SimpleGrid, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { accountActions } from "../../../../../contract/services/account.ts";
import { useControl } from "../../../control/client-context.tsx";
import { failureOf } from "../../../control/failure-error.ts";
import { Dialog, DialogButtons } from "../../../ui/forms/dialog.tsx";
import { PasswordField } from "../../../ui/forms/password-field.tsx";
import { isEmail } from "./user-draft.ts";

interface AddUserDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onAdded: (id: number) => void;
}

const blank = { email: "", password: "", firstname: "", lastname: "", withSampleRecords: true };

export function AddUserDialog({ opened, onClose, onAdded }: AddUserDialogProps) {
  const client = useControl();
  const [draft, setDraft] = useState(blank);
  const [busy, setBusy] = useState(false);
  /** Why the service refused the current input. */
  const [refused, setRefused] = useState<string>();
  /** Escape and a click outside keep what was typed. */
  const clear = () => {
    setDraft(blank);
    setRefused(undefined);
    onClose();
  };
  function set(part: Partial<typeof blank>) {
    setRefused(undefined);
    setDraft({ ...draft, ...part });
  }
  const email = draft.email.trim();
  const valid = isEmail(email) && draft.password !== "";
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!valid || busy) return;
    setBusy(true);
    const { password, firstname, lastname, withSampleRecords } = draft;
    try {
      const contact = { firstname, lastname };
      const { id } = await client.action(accountActions, "account", "user.add", { email, password, contact, withSampleRecords });
      onAdded(id);
      clear();
    } catch (error) {
      setRefused(failureOf(error).message);
    }
    setBusy(false);
  };
  return (
    <Dialog opened={opened} onClose={onClose} title="Add a user">
      <form onSubmit={(event) => void submit(event)}>
        <TextInput
          label="E-mail"
          inputMode="email"
          value={draft.email}
          maxLength={200}
          data-autofocus
          autoComplete="off"
          error={email !== "" && !isEmail(email) ? "An e-mail address has one @, and neither spaces nor colons." : refused}
          onChange={(event) => set({ email: event.currentTarget.value })}
        />
        <PasswordField
          label="Password"
          mt="sm"
          value={draft.password}
          maxLength={1_000}
          autoComplete="new-password"
          onChange={(value) => set({ password: value })}
        />
        <SimpleGrid cols={2} spacing="sm" mt="sm">
          <TextInput
            label="First name"
            value={draft.firstname}
            maxLength={200}
            onChange={(event) => set({ firstname: event.currentTarget.value })}
          />
          <TextInput
            label="Last name"
            value={draft.lastname}
            maxLength={200}
            onChange={(event) => set({ lastname: event.currentTarget.value })}
          />
        </SimpleGrid>
        <Checkbox
          size="xs"
          mt="md"
          label="With a hosting service, a DNS zone and two invoices"
          checked={draft.withSampleRecords}
          onChange={(event) => set({ withSampleRecords: event.currentTarget.checked })}
        />
        <DialogButtons>
          <Button onClick={clear}>Cancel</Button>
          <Button type="submit" variant="filled" disabled={!valid} loading={busy}>
            Add user
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}
