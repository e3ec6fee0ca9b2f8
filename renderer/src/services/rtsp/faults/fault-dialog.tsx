import { descriptionFlaws, faultKinds, faultStatuses } from "../../../../../contract/services/rtsp-faults.ts";
import { type DraftForm, draftForm, NumberField, SelectField } from "../../../ui/forms/draft-form.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { DelayField, DurationField, FaultFormDialog, PercentField, SeedField } from "../../faults/fault-fields.tsx";
import {
  type FaultDraft,
  type FaultToStart,
  faultDraftSchema,
  firstFault,
  mostFaultSeconds,
  parseFaultDraft,
  randomKinds,
} from "./fault-draft.ts";
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
  const words = faultWords[draft.kind];
  return (
    <FaultFormDialog
      title={target.kind === "path" ? `Fault of “/${shownText(target.path)}”` : `Fault of the session of “/${shownText(target.path)}”`}
      action="Start"
      opened={opened}
      isValid={!("problem" in parsed)}
      onClose={onClose}
      onSubmit={() => !("problem" in parsed) && onStart(parsed)}
      choice={
        <SelectField
          form={form}
          name="kind"
          label="Fault"
          choices={kinds.map((kind) => ({ value: kind, label: faultWords[kind].title }))}
        />
      }
      text={[words.text, faultNote(target, draft.kind)].filter(Boolean).join(" ")}
    >
      <DurationField form={form} mostSeconds={mostFaultSeconds} />
      <Figure form={form} />
      {randomKinds.has(draft.kind) && <SeedField form={form} />}
    </FaultFormDialog>
  );
}

/** What the kind has beside its duration. */
function Figure({ form }: { readonly form: DraftForm<FaultDraft> }) {
  const { kind } = form.draft;
  switch (kind) {
    case "loss":
    case "reorder":
      return <PercentField form={form} label="Packets" />;
    case "delay":
      return <DelayField form={form} />;
    case "jitter":
      return <NumberField form={form} name="jitterMs" label="At most" suffix=" ms" min={1} step={100} allowDecimal={false} />;
    case "jump":
      return <NumberField form={form} name="jumpMs" label="Later by" suffix=" ms" step={1_000} allowDecimal={false} />;
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
