import { faultySignals, refusalCodes } from "../../../../../contract/services/webrtc-faults.ts";
import { ChoiceField, type DraftForm, draftForm, LabelledLine, SelectField } from "../../../ui/forms/draft-form.tsx";
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
  seededKinds,
} from "./fault-draft.ts";
import { type FaultTarget, kindsOf } from "./fault-target.ts";
import { codeTitles, faultWords, signalsTitles } from "./fault-texts.ts";

interface FaultDialogProps {
  readonly target: FaultTarget;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onStart: (start: FaultToStart) => void;
}

function titleOf(target: FaultTarget): string {
  switch (target.kind) {
    case "peer":
      return `Fault of ${shownText(target.name)}`;
    case "relay":
      return `Fault of relay ${target.allocation}`;
    case "turn":
      return "Fault of TURN, for everybody";
    default:
      return target satisfies never;
  }
}

/** Starts a fault with figures of one's own. */
export function FaultDialog({ target, opened, onClose, onStart }: FaultDialogProps) {
  const [remembered, setDraft] = useRemembered("webrtc.fault", firstFault, faultDraftSchema);
  const kinds = kindsOf[target.kind];
  const draft: FaultDraft = kinds.includes(remembered.kind) ? remembered : { ...remembered, kind: kinds[0] ?? "refuse" };
  const parsed = parseFaultDraft(draft, target.kind);
  const form = draftForm(draft, setDraft, parsed);
  const asksForSignals = target.kind === "peer" && draft.kind !== "refuse" && draft.kind !== "credentials";
  return (
    <FaultFormDialog
      title={titleOf(target)}
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
          choices={kinds.map((kind) => ({ value: kind, label: faultWords(target.kind, kind).title }))}
        />
      }
      text={faultWords(target.kind, draft.kind).text}
    >
      {asksForSignals && (
        <LabelledLine label="Signals" isWide>
          <ChoiceField
            form={form}
            name="signals"
            label="Signals"
            choices={faultySignals.map((which) => ({ value: which, label: signalsTitles[which] }))}
          />
        </LabelledLine>
      )}
      <DurationField form={form} mostSeconds={mostFaultSeconds} isOptional />
      <Figure form={form} target={target} />
      {seededKinds.has(draft.kind) && <SeedField form={form} />}
    </FaultFormDialog>
  );
}

/** What the kind has beside its duration. */
function Figure({ form, target }: { readonly form: DraftForm<FaultDraft>; readonly target: FaultTarget }) {
  const { kind } = form.draft;
  switch (kind) {
    case "drop":
    case "duplicate":
    case "reorder":
    case "loss":
      return <PercentField form={form} label={target.kind === "relay" ? "Datagrams" : "Part"} />;
    case "delay":
      return <DelayField form={form} />;
    case "refuse":
      return (
        <SelectField
          form={form}
          name="code"
          label="Error code"
          choices={refusalCodes.map((code) => ({ value: code, label: codeTitles[code] }))}
        />
      );
    case "credentials":
    case "cut":
      return null;
    default:
      return kind satisfies never;
  }
}
