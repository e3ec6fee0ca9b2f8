import { Button, Group, Menu, NumberInput, Switch } from "@mantine/core";
import { IconBookmark, IconChevronDown, IconSend, IconTrash } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { z } from "zod";
import type { ServiceView } from "../../../../../contract/service.ts";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { CommandLine } from "../../../ui/copy/command-line.tsx";
import { Dialog } from "../../../ui/forms/dialog.tsx";
import { draftForm } from "../../../ui/forms/draft-form.tsx";
import { submitOnCtrlEnter } from "../../../ui/keys.ts";
import { Caption, Note } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { brokerAddress } from "../broker/broker-address.ts";
import { useAnonymous } from "../broker/use-broker.ts";
import { publishedText } from "../clients/mqtt-texts.ts";
import { mosquittoNotes, mosquittoPubOf } from "../try/mqtt-commands.ts";
import styles from "./publish.module.css";
import { draftWithoutCredentials, type PublishDraft, parsePublishDraft, publishDraftSchema, type SavedMessage } from "./publish-draft.ts";
import { PublishForm } from "./publish-form.tsx";

interface PublishDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly draft: PublishDraft;
  readonly onDraft: (draft: PublishDraft) => void;
  readonly service: ServiceView | undefined;
}

/** Publishes as the broker itself, once or repeatedly; it stays open for the next message. */
export function PublishDialog({ opened, onClose, draft, onDraft, service }: PublishDialogProps) {
  const client = useControl();
  const anonymous = useAnonymous();
  const [sent, setSent] = useState<string>();
  const [repeats, setRepeats] = useRemembered("mqtt.repeats", false);
  const [everySeconds, setEverySeconds] = useRemembered<number | string>("mqtt.repeat-seconds", 1, z.union([z.number(), z.string()]));
  const parsed = parsePublishDraft(draft);
  const change = (next: PublishDraft) => {
    setSent(undefined);
    onDraft(next);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!("params" in parsed)) return;
    if (repeats && typeof everySeconds === "number") {
      const everyMs = Math.max(10, Math.round(everySeconds * 1_000));
      void attempt(client.action(mqttActions, "mqtt", "repeat.start", { message: parsed.params, everyMs }).then(onClose));
      return;
    }
    void attempt(client.action(mqttActions, "mqtt", "publish", parsed.params).then((published) => setSent(publishedText(published))));
  };
  return (
    <Dialog opened={opened} onClose={onClose} title="Publish a message" size="lg">
      <form onSubmit={submit} onKeyDown={submitOnCtrlEnter}>
        <PublishForm form={draftForm(draft, change, parsed)} />
        <div className={styles.command}>
          {"params" in parsed ? (
            <CommandLine command={mosquittoPubOf(draft, brokerAddress(service), anonymous)} />
          ) : (
            <Note>Fix the fields above to see the command.</Note>
          )}
        </div>
        {"params" in parsed &&
          mosquittoNotes(draft).map((note) => (
            <Note key={note} className={styles.aside}>
              {note}
            </Note>
          ))}
        {repeats && (
          <Note className={styles.aside}>
            In a text payload, each repeat has new values for <code>{"{{counter}}"}</code>, <code>{"{{time}}"}</code>,{" "}
            <code>{"{{seconds}}"}</code>, <code>{"{{random}}"}</code>, <code>{"{{random 1 6}}"}</code> and <code>{"{{uuid}}"}</code>.
          </Note>
        )}
        <Group mt="md" gap="sm" wrap="nowrap">
          <SavedMenu draft={draft} onDraft={change} />
          <Switch label="Repeat every" checked={repeats} onChange={(event) => setRepeats(event.currentTarget.checked)} />
          <NumberInput
            size="xs"
            w={84}
            aria-label="Seconds between repeats"
            suffix=" s"
            min={0.01}
            max={3_600}
            decimalScale={2}
            value={everySeconds}
            disabled={!repeats}
            onChange={setEverySeconds}
          />
          <Caption grow className={styles.sent} aria-live="polite">
            {sent}
          </Caption>
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" variant="filled" disabled={!("params" in parsed)} leftSection={<IconSend size={14} stroke={1.5} />}>
            {repeats ? "Start" : "Publish"}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}

const noneSaved: readonly SavedMessage[] = [];

function SavedMenu({ draft, onDraft }: { readonly draft: PublishDraft; readonly onDraft: (draft: PublishDraft) => void }) {
  const [saved, setSaved] = useRemembered("mqtt.saved", noneSaved, z.array(z.object({ name: z.string(), draft: publishDraftSchema })));
  const start = draft.payload.replace(/\s+/g, " ").slice(0, 24);
  const kept = draftWithoutCredentials(draft);
  const mayBeKept = JSON.stringify(kept) === JSON.stringify(draft);
  const name = `${draft.topic}${start ? `: ${start}` : ""}`;
  return (
    <Menu position="top-start" withinPortal={false} width={320}>
      <Menu.Target>
        <Button rightSection={<IconChevronDown size={12} />}>Saved</Button>
      </Menu.Target>
      <Menu.Dropdown mah="50vh" style={{ overflowY: "auto" }}>
        <Menu.Item
          leftSection={<IconBookmark size={14} stroke={1.5} />}
          disabled={!mayBeKept}
          onClick={() => setSaved([{ name, draft }, ...saved.filter((other) => other.name !== name)])}
        >
          {mayBeKept ? "Save this message" : "Not saved: it may hold a credential"}
        </Menu.Item>
        {saved.length > 0 && <Menu.Divider />}
        {saved.map((message) => (
          <Menu.Item key={message.name} onClick={() => onDraft(message.draft)}>
            {shownText(message.name)}
          </Menu.Item>
        ))}
        {saved.length > 0 && (
          <>
            <Menu.Divider />
            <Menu.Item
              leftSection={<IconTrash size={14} stroke={1.5} />}
              disabled={!saved.some((other) => other.name === name)}
              onClick={() => setSaved(saved.filter((other) => other.name !== name))}
            >
              Remove this message
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
