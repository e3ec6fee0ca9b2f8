import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { webrtcActions } from "../../../../../contract/services/webrtc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { attempt, notifyDone } from "../../../ui/status/notify.tsx";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import styles from "./rooms.module.css";

interface ChatFormProps {
  readonly target: { readonly room: string } | { readonly to: string };
  readonly label: string;
  readonly onSaid: () => void;
}

/** A message of the dashboard, into a room or to one peer. */
export function ChatForm({ target, label, onSaid }: ChatFormProps) {
  const client = useControl();
  const [text, setText] = useState("");
  const say = async (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === "") return;
    await attempt(
      client.action(webrtcActions, "webrtc", "chat.send", { ...target, text }).then(({ deliveries }) => {
        notifyDone(`Sent to ${formatCountOf(deliveries, "peer")}`);
        onSaid();
      }),
    );
  };
  return (
    <form className={styles.say} onSubmit={(event) => void say(event)}>
      <TextInput aria-label={label} placeholder="Text" value={text} onChange={(event) => setText(event.currentTarget.value)} />
      <Button type="submit" disabled={text.trim() === ""}>
        Say
      </Button>
    </form>
  );
}
