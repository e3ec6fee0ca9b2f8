import { ActionIcon, Button, Checkbox, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useRemembered } from "../../../ui/use-remembered.ts";
import type { PropertyDraft } from "./property-draft.ts";
import styles from "./property-section.module.css";

interface PropertySectionProps {
  readonly draft: PropertyDraft;
  readonly onDraft: (part: Partial<PropertyDraft>) => void;
  readonly isSet: boolean;
  readonly problem: (field: string) => string | undefined;
  /** What the form asks about the correlation data. */
  readonly correlation: ReactNode;
}

/** What MQTT 5.0 can say about a message; folded away until it is wanted. */
export function PropertySection({ draft, onDraft, isSet, problem, correlation }: PropertySectionProps) {
  const [shows, setShows] = useRemembered("mqtt.publish-properties", false);
  const hasProblem = ["expirySeconds", "responseTopic", "correlationData"].some((field) => problem(field) !== undefined);
  const open = shows || hasProblem;
  return (
    <>
      <div className={styles.head}>
        <h3 className={styles.title}>MQTT 5.0 properties</h3>
        {!open && isSet && <span className={styles.hint}>some are set</span>}
        <span className={styles.spring} />
        <Button size="compact-xs" variant="subtle" aria-expanded={open} onClick={() => setShows(!shows)}>
          {open ? "Hide" : "Show"}
        </Button>
      </div>
      {open && (
        <>
          <div className={styles.pair}>
            <TextInput
              label="Content type"
              placeholder="application/json"
              value={draft.contentType}
              onChange={(event) => onDraft({ contentType: event.currentTarget.value })}
            />
            <TextInput
              label="Message expiry (s)"
              placeholder="never"
              inputMode="numeric"
              value={draft.expirySeconds}
              error={problem("expirySeconds")}
              onChange={(event) => onDraft({ expirySeconds: event.currentTarget.value })}
            />
            <TextInput
              label="Response topic"
              value={draft.responseTopic}
              spellCheck={false}
              error={problem("responseTopic")}
              onChange={(event) => onDraft({ responseTopic: event.currentTarget.value })}
            />
            {correlation}
          </div>
          <Checkbox
            size="xs"
            label="Payload format: UTF-8"
            checked={draft.isUtf8}
            onChange={(event) => onDraft({ isUtf8: event.currentTarget.checked })}
          />
          <UserProperties properties={draft.userProperties} onChange={(userProperties) => onDraft({ userProperties })} />
        </>
      )}
    </>
  );
}

interface UserPropertiesProps {
  readonly properties: PropertyDraft["userProperties"];
  readonly onChange: (properties: PropertyDraft["userProperties"]) => void;
}

/** In their order; a key may repeat. */
function UserProperties({ properties, onChange }: UserPropertiesProps) {
  const put = (place: number, pair: readonly [string, string]) =>
    onChange(properties.map((other, index) => (index === place ? pair : other)));
  return (
    <div className={styles.users}>
      {properties.map(([key, value], place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place; keys may repeat.
        <div key={place} className={styles.user}>
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
