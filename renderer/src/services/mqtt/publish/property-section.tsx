import { ActionIcon, Button, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { CheckField, type DraftForm, FormColumns, TextField } from "../../../ui/forms/draft-form.tsx";
import { Caption, SectionTitle, Spring } from "../../../ui/panel.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import type { PropertyDraft } from "./property-draft.ts";
import styles from "./publish.module.css";

interface PropertySectionProps {
  readonly form: DraftForm<PropertyDraft>;
  readonly isSet: boolean;
  /** The field for the correlation data. */
  readonly correlation: ReactNode;
}

/** The MQTT 5.0 properties; initially folded. */
export function PropertySection({ form, isSet, correlation }: PropertySectionProps) {
  const { draft, set, problem } = form;
  const [shows, setShows] = useRemembered("mqtt.publish-properties", false);
  const hasProblem = ["expirySeconds", "responseTopic", "correlationData"].some((field) => problem(field) !== undefined);
  const open = shows || hasProblem;
  return (
    <>
      <div className={styles.propertyHead}>
        <SectionTitle as="h3">MQTT 5.0 properties</SectionTitle>
        {!open && isSet && <Caption>some are set</Caption>}
        <Spring />
        <Button size="compact-xs" variant="subtle" aria-expanded={open} onClick={() => setShows(!shows)}>
          {open ? "Hide" : "Show"}
        </Button>
      </div>
      {open && (
        <>
          <FormColumns>
            <TextField form={form} name="contentType" label="Content type" placeholder="application/json" />
            <TextField form={form} name="expirySeconds" label="Message expiry (s)" placeholder="never" inputMode="numeric" />
            <TextField form={form} name="responseTopic" label="Response topic" mono />
            {correlation}
          </FormColumns>
          <CheckField form={form} name="isUtf8" label="Payload format: UTF-8" />
          <UserProperties properties={draft.userProperties} onChange={(userProperties) => set({ userProperties })} />
        </>
      )}
    </>
  );
}

interface UserPropertiesProps {
  readonly properties: PropertyDraft["userProperties"];
  readonly onChange: (properties: PropertyDraft["userProperties"]) => void;
}

/** User properties in order; a key may repeat. */
function UserProperties({ properties, onChange }: UserPropertiesProps) {
  const put = (place: number, pair: readonly [string, string]) =>
    onChange(properties.map((other, index) => (index === place ? pair : other)));
  return (
    <div className={styles.userProperties}>
      {properties.map(([key, value], place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place; keys may repeat.
        <div key={place} className={styles.userProperty}>
          <TextInput
            aria-label={`User property ${place + 1}`}
            placeholder="key"
            value={key}
            onChange={(event) => put(place, [event.currentTarget.value, value])}
          />
          <TextInput
            aria-label={`Value of user property ${place + 1}`}
            placeholder="value"
            value={value}
            onChange={(event) => put(place, [key, event.currentTarget.value])}
          />
          <ActionIcon
            aria-label={`Remove user property ${place + 1}`}
            onClick={() => onChange(properties.filter((_, index) => index !== place))}
          >
            <IconX size={14} stroke={1.5} />
          </ActionIcon>
        </div>
      ))}
      <Button size="compact-xs" leftSection={<IconPlus size={12} stroke={1.5} />} onClick={() => onChange([...properties, ["", ""]])}>
        User property
      </Button>
    </div>
  );
}
