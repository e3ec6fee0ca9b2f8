import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import { FormDialog } from "../../ui/forms/dialog.tsx";
import { type DraftForm, FormColumns, NumberField, TextField } from "../../ui/forms/draft-form.tsx";

interface FaultFormDialogProps {
  readonly title: string;
  readonly action: string;
  readonly opened: boolean;
  readonly isValid: boolean;
  readonly onClose: () => void;
  readonly onSubmit: () => void;
  /** The choice of the fault. */
  readonly choice: ReactNode;
  /** What the chosen one does, as sentences. */
  readonly text: string;
  /** Its figures, in two columns. */
  readonly children: ReactNode;
}

/** Asks for a fault with figures of one's own. */
export function FaultFormDialog({ title, action, opened, isValid, onClose, onSubmit, choice, text, children }: FaultFormDialogProps) {
  const submit = () => {
    if (!isValid) return;
    onClose();
    onSubmit();
  };
  return (
    <FormDialog opened={opened} onClose={onClose} title={title} action={action} disabled={!isValid} onSubmit={submit}>
      {choice}
      <Text c="var(--bl-text-2)" fz="md" my="md">
        {text}
      </Text>
      <FormColumns>{children}</FormColumns>
    </FormDialog>
  );
}

type Figure = number | string;

interface DurationFieldProps {
  readonly form: DraftForm<{ readonly forSeconds: Figure }>;
  readonly mostSeconds: number;
  /** Without a duration it is active until it is released. */
  readonly isOptional?: boolean;
}

export function DurationField({ form, mostSeconds, isOptional = false }: DurationFieldProps) {
  return (
    <NumberField
      form={form}
      name="forSeconds"
      label="Duration"
      {...(isOptional && { placeholder: "until released" })}
      suffix=" s"
      min={0.001}
      max={mostSeconds}
      decimalScale={3}
    />
  );
}

interface DelayFieldProps {
  readonly form: DraftForm<{ readonly delayMs: Figure }>;
  readonly disabled?: boolean;
}

export function DelayField({ form, disabled = false }: DelayFieldProps) {
  return <NumberField form={form} name="delayMs" label="Delay" suffix=" ms" min={1} step={100} allowDecimal={false} disabled={disabled} />;
}

interface PercentFieldProps {
  readonly form: DraftForm<{ readonly percent: Figure }>;
  /** Of what it is a part: "Packets". */
  readonly label: string;
}

export function PercentField({ form, label }: PercentFieldProps) {
  return <NumberField form={form} name="percent" label={label} suffix=" %" min={0.1} max={100} decimalScale={1} />;
}

export function SeedField({ form }: { readonly form: DraftForm<{ readonly seed: string }> }) {
  return <TextField form={form} name="seed" mono size="xs" label="Seed" placeholder="random" />;
}
