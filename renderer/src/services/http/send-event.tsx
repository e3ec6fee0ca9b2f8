import { Button, TextInput } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { z } from "zod";
import { httpActions } from "../../../../contract/services/http.ts";
import { useControl } from "../../control/client-context.tsx";
import { useCommands } from "../../ui/commands.ts";
import { withoutCredentialText } from "../../ui/credentials.ts";
import { attempt } from "../../ui/status/notify.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import styles from "./sse-panel.module.css";

const shownForMs = 2_500;

/** What the palette finds of it: while nobody is subscribed, the page says how to. */
export const sendEvent = { id: "sse-send", title: "Send an event…", keywords: "sse server-sent subscribers stream" } as const;

/** Sends one event to all subscribers, and shows how many received it. */
export function SendEvent({ disabled }: { readonly disabled: boolean }) {
  const client = useControl();
  const [event, setEvent] = useRemembered("sse.event", "tick");
  const [data, setData] = useRemembered("sse.data", '{"hello":"world"}', z.string(), { keeps: withoutCredentialText });
  const [sent, setSent] = useState<{ readonly subscribers: number }>();
  useEffect(() => {
    if (!sent) return;
    const timer = setTimeout(() => setSent(undefined), shownForMs);
    return () => clearTimeout(timer);
  }, [sent]);
  const field = useRef<HTMLInputElement>(null);
  useCommands([{ ...sendEvent, enabled: !disabled, run: () => field.current?.select() }]);
  const send = (submit: FormEvent) => {
    submit.preventDefault();
    void attempt(client.action(httpActions, "http", "sse.send", { event: event || "message", data }).then(setSent));
  };
  return (
    <form className={styles.send} onSubmit={send}>
      <TextInput
        className={styles.event}
        aria-label="Event name"
        placeholder="message"
        value={event}
        spellCheck={false}
        onChange={(change) => setEvent(change.currentTarget.value)}
      />
      <TextInput
        ref={field}
        className={styles.data}
        aria-label="Event data"
        placeholder="data"
        value={data}
        spellCheck={false}
        onChange={(change) => setData(change.currentTarget.value)}
      />
      <Button type="submit" w={106} disabled={disabled} leftSection={sent ? undefined : <IconSend size={14} stroke={1.5} />}>
        <span aria-live="polite">{sent ? `Sent to ${formatCount(sent.subscribers)}` : "Send event"}</span>
      </Button>
    </form>
  );
}
