import { ActionIcon, Autocomplete, Button, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import type { HeaderList } from "../../../../contract/traffic/http.ts";
import { isSecretHeader } from "../../../../contract/traffic/secret-headers.ts";
import { useFirstRows } from "../../ui/first-rows.tsx";
import styles from "./header-editor.module.css";
import { TrySection, TrySectionHead } from "./try-section.tsx";

const commonNames = [
  "Accept",
  "Accept-Encoding",
  "Authorization",
  "Cache-Control",
  "Content-Type",
  "Cookie",
  "If-None-Match",
  "Last-Event-ID",
  "Origin",
  "Range",
  "User-Agent",
  "X-Request-Id",
];

/** Why a header field cannot be sent. */
export interface HeaderProblem {
  readonly of: "name" | "value";
  readonly problem: string;
}

interface HeaderEditorProps {
  readonly headers: HeaderList;
  readonly onChange: (headers: HeaderList) => void;
  /** The protocol's name for them. */
  readonly title?: string;
  /** One of them. */
  readonly item?: string;
  /** Suggested names. */
  readonly names?: readonly string[];
  /** Shown at its field; rows without a name are not sent. */
  readonly problemOf?: (name: string, value: string) => HeaderProblem | undefined;
}

export function HeaderEditor(props: HeaderEditorProps) {
  const { headers, onChange, title = "Headers", item = "Header", names = commonNames, problemOf } = props;
  const { shown, more } = useFirstRows(headers, "field");
  const change = (at: number, header: HeaderList[number]) => onChange(headers.map((other, index) => (index === at ? header : other)));
  return (
    <TrySection label={`${title} to send`}>
      <TrySectionHead title={title} state={headers.length === 0 && "none added"}>
        <Button size="compact-xs" variant="subtle" leftSection={<IconPlus size={13} />} onClick={() => onChange([...headers, ["", ""]])}>
          Add
        </Button>
      </TrySectionHead>
      {shown.map(([name, value], index) => {
        const { of, problem } = (name.trim() === "" ? undefined : problemOf?.(name.trim(), value)) ?? {};
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place; names are typed and may repeat.
          <div key={index} className={styles.row}>
            <Autocomplete
              aria-label={`${item} ${index + 1}, name`}
              placeholder="Name"
              data={[...names]}
              value={name}
              error={of === "name" && problem}
              spellCheck={false}
              onChange={(changed) => change(index, [changed, value])}
            />
            <TextInput
              aria-label={`${item} ${index + 1}, value`}
              // Credentials are neither remembered nor always recorded.
              placeholder={isSecretHeader(name.trim()) ? "Credential: fill it in" : "Value"}
              value={value}
              error={of === "value" && problem}
              spellCheck={false}
              onChange={(event) => change(index, [name, event.currentTarget.value])}
            />
            <ActionIcon
              aria-label={`Remove ${item.toLowerCase()} ${name || index + 1}`}
              onClick={() => onChange(headers.filter((_, other) => other !== index))}
            >
              <IconX size={14} stroke={1.5} />
            </ActionIcon>
          </div>
        );
      })}
      {more}
    </TrySection>
  );
}
