import { Group, Text } from "@mantine/core";
import { descriptionFlaws, faultKinds, faultStatuses } from "../../../../../contract/services/rtsp-faults.ts";
import { FormDialog } from "../../../ui/forms/dialog.tsx";
import { type DraftForm, draftForm, NumberField, SelectField, TextField } from "../../../ui/forms/draft-form.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { type FaultDraft, type FaultToStart, faultDraftSchema, firstFault, parseFaultDraft, randomKinds } from "./fault-draft.ts";
import { type FaultTarget, isFaultOf } from "./fault-target.ts";
import { faultNote, faultWords, flawTitles, statusTitles } from "./fault-texts.ts";

interface FaultDialogProps {
  readonly target: FaultTarget;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onStart: (start: FaultToStart) => void;
}

/** Starts a fault with figures of one's own. */
export function FaultDialog({ target, opened, onClose, onStart }: FaultDialogProps) {
  const [remembered, setDraft] = useRemembered("rtsp.fault", firstFault, faultDraftSchema);
  const kinds = faultKinds.filter((kind) => isFaultOf(target, kind));
  const draft: FaultDraft = kinds.includes(remembered.kind) ? remembered : { ...remembered, kind: kinds[0] ?? "close" };
  const parsed = parseFaultDraft(draft);
  const form = draftForm(draft, setDraft, parsed);
  const submit = () => {
    if ("problem" in parsed) return;
    onClose();
    onStart(parsed);
  };
  const words = faultWords[draft.kind];
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={target.kind === "path" ? `Fault of “/${shownText(target.path)}”` : `Fault of the session of “/${shownText(target.path)}”`}
      action="Start"
      disabled={"problem" in parsed}
      onSubmit={submit}
    >
      <SelectField form={form} name="kind" label="Fault" choices={kinds.map((kind) => ({ value: kind, label: faultWords[kind].title }))} />
      <Text c="var(--bl-text-2)" fz="md" my="md">
        {[words.text, faultNote(target, draft.kind)].filter(Boolean).join(" ")}
      </Text>
      <Group gap="md" align="start">
        <NumberField form={form} name="forSeconds" w={140} label="Duration" suffix=" s" min={0.001} max={3_600} decimalScale={3} />
        <Figure form={form} />
        {randomKinds.has(draft.kind) && <TextField form={form} name="seed" mono w={140} size="xs" label="Seed" placeholder="random" />}
      </Group>
    </FormDialog>
  );
}

/** What the kind has beside its duration. */
function Figure({ form }: { readonly form: DraftForm<FaultDraft> }) {
  const { kind } = form.draft;
  switch (kind) {
    case "loss":
    case "reorder":
      return <NumberField form={form} name="percent" w={140} label="Packets" suffix=" %" min={0.1} max={100} decimalScale={1} />;
    case "delay":
      return <NumberField form={form} name="delayMs" w={140} label="Delay" suffix=" ms" min={1} step={100} allowDecimal={false} />;
    case "jitter":
      return <NumberField form={form} name="jitterMs" w={140} label="At most" suffix=" ms" min={1} step={100} allowDecimal={false} />;
    case "jump":
      return <NumberField form={form} name="jumpMs" w={160} label="Later by" suffix=" ms" step={1_000} allowDecimal={false} />;
    case "status":
      return (
        <SelectField
          form={form}
          name="status"
          label="Answer"
          choices={faultStatuses.map((status) => ({ value: status, label: statusTitles[status] }))}
        />
      );
    case "description":
      return (
        <SelectField
          form={form}
          name="flaw"
          label="Wrong in it"
          choices={descriptionFlaws.map((flaw) => ({ value: flaw, label: flawTitles[flaw] }))}
        />
      );
    case "stall":
    case "drop-key-frames":
    case "freeze":
    case "close":
      return null;
    default:
      return kind satisfies never;
  }
}
