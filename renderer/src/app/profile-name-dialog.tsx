import { Button, Group, TextInput } from "@mantine/core";
import { type FormEvent, useEffect, useState } from "react";
import { Dialog } from "../ui/forms/dialog.tsx";

interface ProfileNameDialogProps {
  readonly opened: boolean;
  readonly title: string;
  readonly action: string;
  readonly initial: string;
  /** Resolves with true if the name was accepted; otherwise the dialog stays open. */
  onSettle(name: string): Promise<boolean>;
  onClose(): void;
}

export function ProfileNameDialog({ opened, title, action, initial, onSettle, onClose }: ProfileNameDialogProps) {
  const [name, setName] = useState(initial);
  useEffect(() => {
    if (opened) setName(initial);
  }, [opened, initial]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await onSettle(name.trim())) onClose();
  };
  return (
    <Dialog opened={opened} onClose={onClose} title={title}>
      <form onSubmit={submit}>
        <TextInput label="Name" value={name} maxLength={60} data-autofocus onChange={(event) => setName(event.currentTarget.value)} />
        <Group justify="flex-end" gap="sm" mt="lg">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="filled" disabled={name.trim() === "" || name.trim() === initial}>
            {action}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
