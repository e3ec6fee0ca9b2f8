import { CheckField, ChoiceField, type DraftForm, FormLine, FormStack, TextAreaField, TextField } from "../../../ui/forms/draft-form.tsx";
import { Spring } from "../../../ui/panel.tsx";
import { PropertySection } from "./property-section.tsx";
import { type PublishDraft, qosChoices, usesVersion5 } from "./publish-draft.ts";

const encodings = [
  { value: "text", label: "Text" },
  { value: "hex", label: "Hex" },
  { value: "base64", label: "Base64" },
] as const;

/** Every option of a PUBLISH in 3.1.1, and the properties of 5.0. */
export function PublishForm({ form }: { readonly form: DraftForm<PublishDraft> }) {
  const { draft } = form;
  return (
    <FormStack>
      <TextField form={form} name="topic" mono label="Topic" data-autofocus />
      <FormLine>
        <ChoiceField form={form} name="qos" label="Quality of service" choices={qosChoices} />
        <CheckField form={form} name="retain" label="Retain" />
        <Spring />
        <ChoiceField form={form} name="encoding" label="Payload encoding" choices={encodings} />
      </FormLine>
      <TextAreaField
        form={form}
        name="payload"
        mono
        aria-label="Payload"
        placeholder={draft.retain ? "Empty: deletes the retained message" : "Payload"}
        minRows={4}
        maxRows={10}
      />
      <PropertySection
        form={form}
        isSet={usesVersion5(draft)}
        correlation={<TextField form={form} name="correlationData" label="Correlation data" placeholder="text, or 0x and hex" />}
      />
    </FormStack>
  );
}
