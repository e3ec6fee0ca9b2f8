import { ActionIcon, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { attempt } from "../status/notify.tsx";
import { copyText } from "./copy-text.ts";

const shownMs = 1_200;

/** `what` completes "Copy …" for the tooltip and for screen readers. */
export function CopyButton({ text, what, size = 20 }: { text: string | (() => string); what: string; size?: number }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => attempt(copyText(typeof text === "string" ? text : text()).then(() => setCopied(true)));
  return (
    <Tooltip label={copied ? "Copied" : `Copy ${what}`}>
      <ActionIcon size={size} onClick={copy} aria-label={`Copy ${what}`}>
        {copied ? <IconCheck size={14} stroke={1.5} color="var(--bl-ok)" /> : <IconCopy size={14} stroke={1.5} />}
      </ActionIcon>
    </Tooltip>
  );
}
