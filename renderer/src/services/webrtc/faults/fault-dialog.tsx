import { Group, Text } from "@mantine/core";
import { faultySignals, refusalCodes } from "../../../../../contract/services/webrtc-faults.ts";
import { FormDialog } from "../../../ui/forms/dialog.tsx";
import {
  ChoiceField,
  type DraftForm,
  draftForm,
  LabelledLine,
  NumberField,
  SelectField,
  TextField,
} from "../../../ui/forms/draft-form.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { type FaultDraft, type FaultToStart, faultDraftSchema, firstFault, parseFaultDraft, seededKinds } from "./fault-draft.ts";
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
  const submit = () => {
    if ("problem" in parsed) return;
    onClose();
    onStart(parsed);
  };
  return (
    <FormDialog opened={opened} onClose={onClose} title={titleOf(target)} action="Start" disabled={"problem" in parsed} onSubmit={submit}>
      <SelectField
        form={form}
        name="kind"
        label="Fault"
        choices={kinds.map((kind) => ({ value: kind, label: faultWords(target.kind, kind).title }))}
      />
      <Text c="var(--bl-text-2)" fz="md" my="md">
        {faultWords(target.kind, draft.kind).text}
      </Text>
      {"signals" in draft && target.kind === "peer" && draft.kind !== "refuse" && draft.kind !== "credentials" && (
        <Group mb="md">
          <LabelledLine label="Signals">
            <ChoiceField
              form={form}
              name="signals"
              label="Signals"
              choices={faultySignals.map((which) => ({ value: which, label: signalsTitles[which] }))}
            />
          </LabelledLine>
        </Group>
      )}
      <Group gap="md" align="start">
        <NumberField
          form={form}
          name="forSeconds"
          w={140}
          label="Duration"
          placeholder="until released"
          suffix=" s"
          min={0.001}
          max={86_400}
          decimalScale={3}
        />
        <Figure form={form} target={target} />
        {seededKinds.has(draft.kind) && <TextField form={form} name="seed" mono w={140} size="xs" label="Seed" placeholder="random" />}
      </Group>
    </FormDialog>
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
      return (
        <NumberField
          form={form}
          name="percent"
          w={140}
          label={target.kind === "relay" ? "Datagrams" : "Part"}
          suffix=" %"
          min={0.1}
          max={100}
          decimalScale={1}
        />
      );
    case "delay":
      return <NumberField form={form} name="delayMs" w={140} label="Delay" suffix=" ms" min={1} step={100} allowDecimal={false} />;
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
