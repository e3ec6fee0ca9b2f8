import { ActionIcon, Tooltip, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconEye, IconEyeOff } from "@tabler/icons-react";
import { useState } from "react";
import type { HeaderList } from "../../../../contract/traffic/http.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import styles from "./header-list.module.css";
import { isSecretHeader, maskedValue } from "./headers.ts";

interface HeaderListViewProps {
  readonly title?: string;
  readonly headers: HeaderList;
}

/** Headers as they crossed the wire; what looks like a secret is covered until asked for. */
export function HeaderListView({ title = "Headers", headers }: HeaderListViewProps) {
  const [open, setOpen] = useRemembered(`inspector.${title.toLowerCase()}`, true);
  const what = title.toLowerCase();
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.head}>
        <UnstyledButton className={styles.fold} aria-expanded={open} onClick={() => setOpen(!open)}>
          <IconChevronDown size={14} stroke={1.5} aria-hidden="true" className={styles.chevron} data-open={open} />
          <span className={styles.title}>{title}</span>
          <span className={styles.count}>{headers.length}</span>
        </UnstyledButton>
        <CopyButton text={() => headers.map(([name, value]) => `${name}: ${value}`).join("\n")} what={`all ${what}`} />
      </div>
      {open && (
        <dl className={styles.list}>
          {headers.map(([name, value], index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a name may come twice, and the list never changes.
            <Header key={`${index} ${name}`} name={name} value={value} />
          ))}
        </dl>
      )}
    </section>
  );
}

function Header({ name, value }: { readonly name: string; readonly value: string }) {
  const isSecret = isSecretHeader(name);
  const [revealed, setRevealed] = useState(false);
  const verb = revealed ? "Cover" : "Reveal";
  return (
    <div className={styles.header}>
      <dt>{name}</dt>
      <dd>
        <span className={styles.value}>{isSecret && !revealed ? maskedValue(name, value) : value}</span>
        {isSecret && (
          <Tooltip label={`${verb} the value`}>
            <ActionIcon size={20} aria-label={`${verb} ${name}`} onClick={() => setRevealed(!revealed)}>
              {revealed ? <IconEyeOff size={14} stroke={1.5} /> : <IconEye size={14} stroke={1.5} />}
            </ActionIcon>
          </Tooltip>
        )}
        <span className={styles.copy}>
          <CopyButton text={value} what={name} />
        </span>
      </dd>
    </div>
  );
}
