import { ActionIcon } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { attempt } from "../status/notify.tsx";
import { Tooltip } from "../tooltip.tsx";
import { copyText } from "./copy-text.ts";

const shownMs = 1_200;

/** Copies, and reports for a short time that it has copied. */
export function useCopy(): readonly [copied: boolean, copy: (text: string | Promise<string>) => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [copied]);
  return [
    copied,
    (text) =>
      void attempt(
        Promise.resolve(text)
          .then(copyText)
          .then(() => setCopied(true)),
      ),
  ];
}

/** `what` completes "Copy …" for the tooltip and for screen readers. */
export function CopyButton({ text, what }: { text: string | (() => string); what: string }) {
  const [copied, copy] = useCopy();
  return (
    <Tooltip label={copied ? "Copied" : `Copy ${what}`}>
      <ActionIcon onClick={() => copy(typeof text === "string" ? text : text())} aria-label={`Copy ${what}`}>
        {copied ? <IconCheck size={14} stroke={1.5} color="var(--bl-ok)" /> : <IconCopy size={14} stroke={1.5} />}
      </ActionIcon>
    </Tooltip>
  );
}
