import { TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { failureOf } from "../control/failure-error.ts";
import { FormDialog } from "../ui/forms/dialog.tsx";

interface ProfileNameDialogProps {
  readonly opened: boolean;
  readonly title: string;
  readonly action: string;
  readonly initial: string;
  /** Rejects if the name was refused; the dialog stays open and says why. */
  onSettle(name: string): Promise<unknown>;
  onClose(): void;
}

export function ProfileNameDialog({ opened, title, action, initial, onSettle, onClose }: ProfileNameDialogProps) {
  const [name, setName] = useState(initial);
  const [refused, setRefused] = useState<string>();
  const change = (next: string) => {
    setRefused(undefined);
    setName(next);
  };
  useEffect(() => {
    if (!opened) return;
    setRefused(undefined);
    setName(initial);
  }, [opened, initial]);
  const submit = async () => {
    try {
      await onSettle(name.trim());
      onClose();
    } catch (error) {
      setRefused(failureOf(error).message);
    }
  };
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={title}
      action={action}
      disabled={name.trim() === "" || name.trim() === initial}
      onSubmit={() => void submit()}
    >
      <TextInput
        label="Name"
        value={name}
        maxLength={60}
        error={refused}
        data-autofocus
        onChange={(event) => change(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
